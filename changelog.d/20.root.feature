A node that runs as root logs it at the start.
