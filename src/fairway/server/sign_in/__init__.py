"""How people come in, stay in, and what they may do then.

    desk            what all of it works with
    signing         the server's signature on what browsers hold
    sessions        who a browser belongs to, and how that ends
    grants          which roles somebody has, from what was given here and from groups
    same_origin     whether a request comes from our own pages

Programs with API keys do not come this way; `user_auth` knows them. Which request needs what is the doors' to say.
"""
