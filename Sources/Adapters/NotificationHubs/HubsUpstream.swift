package import Model

/// The vendor's real service, which the gateway can call.
extension HubsAdapter: UpstreamVendor {
    package var upstreamForm: UpstreamForm {
        UpstreamForm(
            exampleURL: "https://shop.servicebus.windows.net",
            fields: [
                .text("hub", "The hub's name at the vendor."),
                .text("keyName", "The name of an access policy of the hub with the rights listen, send and manage."),
                .secret("key", "Its key. Signatures name the host, so the gateway signs every call again."),
            ]
        )
    }
}
