import Adapters
package import Model

/// The vendors of the product and those that exist only for tests. One is added to the other as `docs/adding-a-vendor.md` says.
package enum TestVendors {
    package static let all: [any VendorAdapter] = [
        // One line for each vendor.
        StubAdapter()
    ]

    /// With those of the product.
    package static let catalog = VendorCatalog(Vendors.all + all)
}
