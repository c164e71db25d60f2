"""What ``ragwb doctor`` looks at; each module has one subject and gives findings."""
