With `proxy.protocol`, connections of trusted proxies begin with a header of the PROXY protocol, version 2, so that load balancers that pass TLS through can name their clients.
