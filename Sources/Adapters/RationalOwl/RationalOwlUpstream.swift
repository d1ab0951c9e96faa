package import Model

/// The vendor's real service, which the gateway can call.
extension RationalOwlAdapter: UpstreamVendor {
    package var upstreamForm: UpstreamForm {
        UpstreamForm(
            exampleURL: "https://ums.example.com:36001",
            fields: [
                .secret(
                    "serverRegId",
                    isRequired: false,
                    "The rId of a back end that is registered at the vendor for the gateway's own sends."
                )
            ]
        )
    }
}
