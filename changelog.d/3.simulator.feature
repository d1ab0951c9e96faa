The simulator plays client certificates, broadcast channels and their management host, registered devices, and faults per token, stream and connection below its HTTP/2 handler (`docs/simulator.md`).
