/// How many objects of a tenant may be created through the API or by commands. Those of provisioning files do not count.
package enum ObjectLimits {
    /// 200 API keys: a caller that never stops must not fill a reference table, which every node of a cluster copies.
    package static let keys = 200
    /// 100 credentials: every node keeps connections for each.
    package static let credentials = 100
    /// 1,000 apps: a write reads the names and settings of all.
    package static let apps = 1000
}
