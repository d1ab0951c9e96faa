`GET /v1/apps/{app}/senders` and the page *Senders* of the console list the back ends that registered to send, with their proof and the state of their callbacks.
