Messages can be paused, resumed and requeued, by API and by `push-gateway message`; slices that were tried too often rest as `dead` with their reason instead of failing.
