package import Model

/// The vendor's real service, which the gateway can call.
extension IPNSAdapter: UpstreamVendor {
    package var upstreamForm: UpstreamForm {
        UpstreamForm(
            exampleURL: "https://push.example.com",
            fields: [
                .secret(
                    "apiKey",
                    isRequired: false,
                    "The key that the vendor's send expects as a bearer, if it needs one."
                )
            ]
        )
    }
}
