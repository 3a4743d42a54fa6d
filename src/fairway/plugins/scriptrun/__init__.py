"""SCRIPT_RUN: runs any command in any pipeline, and what undoes it when the deployment is rolled back."""
