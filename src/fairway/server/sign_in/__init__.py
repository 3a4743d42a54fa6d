"""How people come in, stay in, and what they may do then.

    desk                        what all of it works with
    signing, cookies            what browsers hold of us, and our signature on it
    sessions                    who a browser belongs to, and how that ends
    grants, names               which roles somebody has, and what they may be called
    passwords, attempts, local  people whose password is kept here, and how often one may be tried
    links                       how somebody gets a password
    providers, journeys, authorities, oidc, github, vouched
                                people for whom somebody else vouches, from the way there to the welcome
    arrivals                    where every way in ends: a session, and a record of it
    pages, next_page, same_origin
                                what is shown before there is a session, and who may have sent what comes back
    actions                     what is done to people, roles and settings

Programs with API keys do not come this way; `user_auth` knows them. Which request needs what is the doors' to say.
"""
