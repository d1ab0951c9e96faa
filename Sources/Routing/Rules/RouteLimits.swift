/// The limits of the rules of one app.
package enum RouteLimits {
    /// 32 rules of each kind: a call and a slice compare them one after the other.
    package static let rules = 32
    /// 2 paths of a rule: a push that neither delivers has a fault that a third does not repair.
    package static let paths = 2
    /// 8 tags of all rules: they are looked up once for each slice.
    package static let tags = 8
    /// 32 names of calls in a rule.
    package static let names = 32
    /// 10,000 versions that calls may reach: no version is deleted, so that a caller that never stops would fill the table. Files may go beyond.
    package static let versions = 10_000
    /// 64 bytes of a salt.
    package static let saltBytes = 64
    /// 1 s to 24 h of the window for duplicates. Messages of a longer time would be compared for no sender who waits.
    package static let window = Duration.seconds(1)...Duration.seconds(86_400)
    /// 0 s to 1 h until the next path is tried.
    package static let coolDown = Duration.zero...Duration.seconds(3600)
}
