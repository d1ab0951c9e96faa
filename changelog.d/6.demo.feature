`push-gateway demo` walks through an app with the SDK of Braze and through the app of the hub tutorials, too.
