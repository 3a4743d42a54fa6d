"""Which requests are refused before anybody acts on them.

`rule` says what a rule is, the tables say which field has which, a file for each API and one for the nouns inside;
`violations` asks a message.
"""
