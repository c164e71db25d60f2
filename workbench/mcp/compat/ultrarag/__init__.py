"""What servers written for UltraRAG import, on ragwb's kit. On the path of servers only."""
