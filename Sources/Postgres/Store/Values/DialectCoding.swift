package import Model

/// Encodes in an app's `defaults` whether sends of a vendor reach the identities of other vendors, which `gateway.expand_slice` reads.
package enum DialectCoding {
    /// Writes the setting into `defaults`, whose other members stay. False: nothing is written.
    package static func write(_ crossesDialects: Bool, into defaults: inout JSONObject) {
        if crossesDialects { defaults[BindingSettings.crossingKey] = true }
    }
}
