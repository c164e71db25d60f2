"""What servers and scripts written for UltraRAG import, on ragwb's own parts. On the path of those only."""
