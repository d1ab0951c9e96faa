package import Model

extension VendorCatalog {
    /// The vendors of the product, and the native API's own format of payloads.
    package static let product = VendorCatalog(Vendors.all + [NativeAdapter()])
}
