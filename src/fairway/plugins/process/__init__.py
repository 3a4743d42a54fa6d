"""The process platform: an application as a number of processes on one host, behind a small traffic splitter.

    plugin    the stages: writes down what is wanted, and waits until it is so
    release   the files of a version, kept for as long as it runs
    records   what is wanted, and what there is: two files for each application
    keeper    a process for each application, which makes what there is what is wanted
    decide    what the keeper does next
    splitter  who gets a connection

The keeper and the processes it keeps live in sessions of their own and outlive plugin and agent. A killed keeper is
started again and finds its processes by what it has written down.
"""
