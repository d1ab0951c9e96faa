import CommandSupport
import Model

/// The tenant of `bench proxy`, whose apps speak iPNS and have a rule each.
struct ProxyApps {
    static let tenant: TenantID = "moving"
    /// Four slow upstreams.
    static let slowCount = 4
    /// The answer of every upstream: success.
    static let answer = #"{"RT":"0000","RT_MSG":"SUCCESS","rtCode":"0000","error":""}"#
    /// A path that the dialect does not know. Such a call is proxied and not observed.
    static let unknownPath = "/ipns/ping"
    static let registrationPath = "/ipns/appRegist"

    /// An app whose calls are measured.
    enum App: String, CaseIterable {
        case served, proxied, forwarded

        fileprivate var rule: String? {
            switch self {
            case .served: nil
            case .proxied: "action: proxy, upstream: \(ProxyApps.upstream)"
            case .forwarded:
                "kinds: [device, user, receipt], action: serveAndForward, upstream: \(ProxyApps.upstream)"
            }
        }

        /// The name in its calls.
        var application: String { "bench.\(rawValue)" }
    }

    private static let upstream = "old"

    /// The credential of the fast upstream, as metrics name it.
    static let credential = "\(tenant)/\(upstream)"

    /// The names of the slow apps in their calls, each of another slow upstream.
    static let slow = (1...slowCount).map { "bench.slow-\($0)" }

    /// Each target has a bucket, and half of them have a second path. All leave through the push service, as without rules.
    private static let deliveries = [
        "{ rollout: { percent: 50, by: user, salt: bench }, paths: [apns, \(upstream)] }", "{ paths: [apns] }",
    ]

    /// Provisions the tenant, and the dialect of the stage's own app, and waits until the gateway serves all apps by their rules.
    ///
    /// - Parameters:
    ///   - stage: the running gateway.
    ///   - fast: the address of the fast upstream.
    ///   - slow: the ports of the slow ones.
    /// - Returns: the tenant's API key.
    /// - Throws: `StageFailure` when the file is refused, or an app does not answer by its rules within ten seconds.
    static func add(to stage: BenchStage, fast: String, slow: [Int]) async throws -> String {
        try await stage.bind("ipns: { appId: bench.unruled }") { try await answers($0, "bench.unruled", "2003") }
        let upstreams = [(upstream, fast)] + slow.enumerated().map { ("slow-\($0 + 1)", "http://127.0.0.1:\($1)") }
        let slowApps = (1...slowCount).map { number in
            app("slow-\(number)", "action: proxy, upstream: slow-\(number)")
        }
        let key = try await stage.addTenant(
            tenant,
            apnsAddress: stage.peerAddress,
            credentials: upstreams.map { #"{ id: \#($0), kind: upstream-ipns, url: "\#($1)" }"# },
            shop: [
                "bindings: { ipns: { appId: bench.rollout } }",
                "routes: { deliveries: [\(deliveries.joined(separator: ", "))] }",
            ],
            apps: App.allCases.map { app($0.rawValue, $0.rule) } + slowApps
        )
        let expected = App.allCases.map { ($0.application, $0 == .proxied ? "0000" : "2003") }
        for (name, code) in expected + Self.slow.map({ ($0, "0000") }) {
            try await stage.untilServed(name) { try await answers($0, name, code) }
        }
        return key
    }

    /// The line of an app with one rule for calls, or without rules.
    private static func app(_ name: String, _ rule: String?) -> String {
        let platforms = "platforms: { ios: { topic: \(StageMaterial.topic), production: apple } }"
        let routes = rule.map { ", routes: { calls: [{ \($0) }] }" } ?? ""
        return "{ id: \(name), \(platforms), bindings: { ipns: { appId: bench.\(name) } }\(routes) }"
    }

    /// Whether a read of an unknown device has this code: 2003 is that of the gateway, 0000 that of the upstreams.
    private static func answers(_ stage: BenchStage, _ application: String, _ code: String) async throws -> Bool {
        let body: JSON = ["APP_ID": .string(application), "DEVICE_ID": "nobody"]
        return try await stage.gateway.call("POST", "/ipns/getConfig", body).json?["RT"]?.string == code
    }
}
