package import Model

/// Monitors how many of an app's tokens the peer considers doubtful. When the share is large, the cause is not the tokens but a wrong key, topic or
/// environment. No token may be quarantined then; otherwise a mistake of the operator would silence the whole app.
///
/// Dead tokens do not count: they carry their own time, and an old audience has many. A pure value. Source of the figures: docs/contracts/apns.md#13.6.
package struct TokenQuality: Sendable {
    /// The app whose tokens are counted.
    package struct Key: Sendable, Hashable {
        package var tenant: TenantID
        package var app: AppID

        package init(tenant: TenantID, app: AppID) {
            self.tenant = tenant
            self.app = app
        }
    }

    /// A ring buffer of the last answers.
    private struct Window {
        var answers: [Bool] = []
        var next = 0
        var doubtful = 0
        /// The state that was last reported, so that each change is reported once.
        var isStopped = false

        mutating func add(_ isDoubtful: Bool) {
            if answers.count < TokenQuality.windowCount {
                answers.append(isDoubtful)
            } else {
                if answers[next] { doubtful -= 1 }
                answers[next] = isDoubtful
            }
            next = (next + 1) % TokenQuality.windowCount
            if isDoubtful { doubtful += 1 }
        }
    }

    /// The last 200 answers of each app are considered.
    package static let windowCount = 200
    /// 20 % of them. At or below the limit, wrong tokens are quarantined; above it, good tokens would be too.
    package static let limitCount = 40
    /// 4,096 apps are monitored at once (1 MB). Beyond that, the app with the fewest answers is forgotten and starts again from zero.
    package static let appLimit = 4 * 1024

    private var windows: [Key: Window] = [:]

    package init() {}

    /// Apps whose tokens are not changed at present.
    package var stopped: Set<Key> { Set(windows.filter(\.value.isStopped).keys) }

    /// Records a batch and returns those of its verdicts that may be applied.
    ///
    /// - Parameters:
    ///   - verdicts: the peer's verdicts on tokens.
    ///   - answered: the number of pushes that the peer answered, including these.
    ///   - key: the app of the tokens.
    /// - Returns: all verdicts; or, while an unusual share of tokens fails, only those that say a token is valid.
    package mutating func judge(_ verdicts: [TokenVerdict], among answered: Int, of key: Key) -> [TokenVerdict] {
        if windows[key] == nil && windows.count >= Self.appLimit {
            windows.min { $0.value.answers.count < $1.value.answers.count }.map { windows[$0.key] = nil }
        }
        var window = windows[key] ?? Window()
        let doubtful = verdicts.count { if case .doubtful = $0 { true } else { false } }
        for _ in 0..<max(0, min(answered, Self.windowCount) - doubtful) { window.add(false) }
        for _ in 0..<min(doubtful, Self.windowCount) { window.add(true) }
        window.isStopped = window.doubtful > Self.limitCount
        windows[key] = window
        return window.isStopped ? verdicts.filter { if case .moved = $0 { true } else { false } } : verdicts
    }
}
