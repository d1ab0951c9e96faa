package import Model

extension GatewayConfiguration {
    /// The private networks that upstreams may be in.
    package var upstreamNetworks: [AddressRange] {
        get throws(ConfigurationProblem) { try SettingReader.networks(upstreamAllowedNetworks, "upstream-allow") }
    }
}
