Forwarded calls reach a UPMC server with `security.using=true`: the gateway asks it for an `AUTHKEY` as the app would (docs/routing.md#calls-that-are-forwarded).
A proxied call of a UPMC app with an `AUTHKEY` of the gateway, which the vendor refuses, is made once more with a key of the vendor (docs/vendors/upmc.md#as-an-upstream).
