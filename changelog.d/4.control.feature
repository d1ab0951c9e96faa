Messages can be paused, resumed and requeued through the API and with `push-gateway message`. Slices that failed too often rest as `dead` with their reason instead of failing.
