The gateway serves iPNS apps and back ends: registration, receipts, settings with receiving windows, history, polling and sending with an API key.
