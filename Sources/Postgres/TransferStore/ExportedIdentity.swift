package import Model
package import Store

/// An identity with its device and the further facts of an export.
package struct ExportedIdentity: Sendable, Hashable {
    package var device: DeviceFacts
    package var identity: IdentityEntry
    package var facts: ExportedFacts
}

/// A page of identities, in the order of their keys, and those with one key in the order of their dialects.
package struct ExportedIdentities: Sendable, Hashable {
    /// A place in the order.
    package struct Place: Sendable, Hashable {
        package var key: VendorDeviceKey
        package var vendor: Vendor
    }

    /// Empty if all rows of the page were erased while it was read, although others may follow.
    package var items: [ExportedIdentity]
    /// The last row of the page; nil: none follows.
    package var next: Place?
}
