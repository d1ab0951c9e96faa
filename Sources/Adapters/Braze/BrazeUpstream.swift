package import Model

/// The vendor's real service, which the gateway can call.
extension BrazeAdapter: UpstreamVendor {
    package var upstreamForm: UpstreamForm {
        UpstreamForm(
            exampleURL: "https://rest.fra-01.braze.eu",
            fields: [
                .secret(
                    "restKey",
                    "The vendor's REST key for calls that the gateway makes itself. It needs messages.send."
                )
            ]
        )
    }

    /// `/messages/send` names users, and the vendor pushes to all devices of each (docs/contracts/braze.md).
    package func addressesUsers(_ settings: UpstreamSettings) -> Bool { true }

    /// By `messages.apple_push` and `messages.android_push`.
    package var splitsPlatforms: Bool { true }
}
