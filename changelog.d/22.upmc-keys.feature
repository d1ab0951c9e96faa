Forwarded calls reach a UPMC server with `security.using=true`: the gateway asks it for an `AUTHKEY` as the app would (docs/routing.md#calls-that-are-forwarded).
