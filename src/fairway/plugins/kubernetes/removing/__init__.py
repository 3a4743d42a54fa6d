"""What an application has in a cluster, and taking away what it should not have."""
