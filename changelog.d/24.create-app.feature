The console creates apps with their topic, credentials and bindings.
