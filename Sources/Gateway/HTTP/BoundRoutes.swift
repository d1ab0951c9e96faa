package import Routing

/// The rules that apply to the calls of an app, and their version.
package struct BoundRoutes: Sendable, Hashable {
    package let version: Int
    /// Nil: this program cannot read the rules, as those of a later version. Neither side may answer then, because both could push.
    package let table: RouteTable?

    package init(version: Int, table: RouteTable?) {
        self.version = version
        self.table = table
    }
}
