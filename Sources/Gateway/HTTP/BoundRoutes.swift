package import Model
package import Routing

/// The rules that apply to the calls of an app, and their version.
package struct BoundRoutes: Sendable, Hashable {
    package let version: Int
    /// Nil: this program cannot read the rules, as those of a later version. Neither side may answer then, because both could push.
    package let table: RouteTable?
    /// The only dialect of which the overlay rules calls: while a migration runs, that of the vendor that the app leaves.
    private let overlaid: Vendor?

    package init(version: Int, table: RouteTable?, overlaid: Vendor? = nil) {
        self.version = version
        self.table = table
        self.overlaid = overlaid
    }

    /// Whether gates of a migration count the calls of a dialect. Those of others say nothing about the vendor that the app leaves, and enough of them would
    /// stand in for its own.
    package func counts(_ dialect: Vendor) -> Bool { overlaid.map { $0 == dialect } ?? true }
}
