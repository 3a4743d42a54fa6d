"""What is made of manifests before they are applied; pure."""
