package import Model

/// The vendor's real service, which the gateway can call.
extension UPMCAdapter: UpstreamVendor {
    /// The setting that says whether the vendor's server understands `REQ_PSIDS`.
    private static let byDevice = "byDevice"

    package var upstreamForm: UpstreamForm {
        UpstreamForm(
            exampleURL: "https://push.example.com",
            fields: [
                .flag(
                    Self.byDevice,
                    default: true,
                    "Whether a send can name single devices of a user (REQ_PSIDS). False: all devices of a user take one path."
                )
            ]
        )
    }

    package func addressesUsers(_ settings: UpstreamSettings) -> Bool { settings.values[Self.byDevice]?.bool == false }
}
