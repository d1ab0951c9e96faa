import Adapters
package import Model

/// The vendors of the product and those that exist only for tests, added as described in `docs/adding-a-vendor.md`.
package enum TestVendors {
    package static let all: [any VendorAdapter] = [
        // One line for each vendor.
        StubAdapter()
    ]

    /// These vendors and those of the product.
    package static let catalog = VendorCatalog(Vendors.all + all)
}
