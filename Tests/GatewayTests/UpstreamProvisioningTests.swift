import EngineStore
import Foundation
import Model
import Testing

@testable import Provisioning
@testable import Secrets

/// Credentials of kind `upstream-<vendor>` and `routes` in a provisioning file (docs/routing.md).
@Suite final class UpstreamProvisioningTests {
    private let directory: String

    init() throws {
        directory = NSTemporaryDirectory() + "pgw-upstreams-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for name in ["key.p8", "authority.pem"] {
            try "nothing".write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func read(_ credential: String, routes: String = "[]", platform: String = "apple") throws
        -> ProvisioningFile
    {
        try ProvisioningReader(
            directory: directory,
            environment: ["OLD_KEY": "the-vendors-key"],
            allowsInlineSecrets: true
        ).read(
            """
            tenants:
              - id: acme
                credentials:
                  - { id: apple, kind: apns-token, teamId: ABCDE12345, keyId: KEY1234567, privateKeyFile: key.p8 }
                  - \(credential)
                apps:
                  - id: shop
                    platforms:
                      ios: { topic: com.example.shop, production: \(platform) }
                    bindings:
                      ipns: { appId: hr.mobile }
                    routes: \(routes)
            """
        )
    }

    private func problem(_ credential: String, routes: String = "[]", platform: String = "apple") -> String? {
        do { _ = try read(credential, routes: routes, platform: platform) } catch {
            let problem = error as? ProvisioningProblem
            return problem.map { "\($0.path): \($0.problem)" } ?? "\(error)"
        }
        return nil
    }

    private static let braze =
        #"{ id: old, kind: upstream-braze, url: "https://Rest.fra-01.braze.eu/", restKeyEnv: OLD_KEY, callsPerSecond: 200 }"#

    @Test func anUpstreamIsReadWithItsSecrets() throws {
        let credential = try #require(try read(Self.braze).tenants[0].credentials.last)
        #expect(credential.endpoint == "https://rest.fra-01.braze.eu" && credential.pushesPerSecond == 200)
        #expect(credential.secret.kind == "upstream-braze")
        let expected = UpstreamSettings(vendor: .braze, secrets: ["restKey": "the-vendors-key"])
        #expect(credential.secret == .upstream(expected))
        #expect(CredentialSecret(sealedForm: credential.secret.sealedForm) == credential.secret)
    }

    @Test(arguments: [
        ("upstream-upmc, url: \"http://10.1.2.3:8080/push\"", "http://10.1.2.3:8080/push", #"{"byDevice":true}"#),
        (
            "upstream-upmc, byDevice: false, url: \"https://push.example\"", "https://push.example",
            #"{"byDevice":false}"#
        ),
        ("upstream-ipns, url: \"https://push.example\"", "https://push.example", "{}"),
        ("upstream-rationalowl, url: \"https://ums.example:36001\"", "https://ums.example:36001", "{}"),
        (
            "upstream-notificationhubs, url: \"https://a.servicebus.windows.net\", hub: shop, keyName: full, keyEnv: OLD_KEY",
            "https://a.servicebus.windows.net", #"{"hub":"shop","keyName":"full"}"#
        ),
    ])
    func everyVendorHasAnUpstream(_ fields: String, _ url: String, _ values: String) throws {
        let credential = try #require(try read("{ id: old, kind: \(fields) }").tenants[0].credentials.last)
        #expect(credential.endpoint == url)
        guard case .upstream(let settings) = credential.secret else { throw CancellationError() }
        #expect(JSONWriter.text(.object(settings.values)) == values)
        #expect(CredentialSecret(sealedForm: credential.secret.sealedForm) == credential.secret)
    }

    @Test(arguments: [
        (
            "{ id: old, kind: upstream-fcm, url: \"https://a.example\" }",
            "tenants[0].credentials[1].kind: 'upstream-fcm' is not supported; use one of apns-token, apns-certificate, "
        ),
        ("{ id: old, kind: upstream-braze, restKeyEnv: OLD_KEY }", "tenants[0].credentials[1].url: is missing"),
        (
            "{ id: old, kind: upstream-braze, url: \"ftp://a.example\", restKeyEnv: OLD_KEY }",
            "tenants[0].credentials[1].url: must be an address like https://rest.fra-01.braze.eu"
        ),
        (
            "{ id: old, kind: upstream-braze, url: \"https://a.example/?x=1\", restKeyEnv: OLD_KEY }",
            "tenants[0].credentials[1].url: must be an address"
        ),
        (
            "{ id: old, kind: upstream-braze, url: \"https://u:p@a.example\", restKeyEnv: OLD_KEY }",
            "tenants[0].credentials[1].url: must be an address"
        ),
        (
            "{ id: old, kind: upstream-braze, url: \"https://a.example\" }",
            "tenants[0].credentials[1]: needs restKeyEnv or restKeyFile"
        ),
        (
            "{ id: old, kind: upstream-braze, url: \"https://a.example\", restKeyEnv: MISSING }",
            "tenants[0].credentials[1].restKeyEnv: the environment has no variable MISSING"
        ),
        (
            "{ id: old, kind: upstream-upmc, url: \"https://a.example\", restKeyEnv: OLD_KEY }",
            "tenants[0].credentials[1].restKeyEnv: is not a known key"
        ),
        (
            "{ id: old, kind: upstream-upmc, url: \"https://a.example\", trustRootsFile: authority.pem }",
            "tenants[0].credentials[1].trustRootsFile: contains no certificate"
        ),
        (
            "{ id: old, kind: upstream-upmc, url: \"https://a.example\", pushesPerSecond: 5 }",
            "tenants[0].credentials[1].pushesPerSecond: is not a known key"
        ),
    ])
    func aMistakeIsReportedWithItsPlace(_ credential: String, _ expected: String) {
        #expect(problem(credential)?.hasPrefix(expected) == true, "\(problem(credential) ?? "none")")
    }

    @Test func anUpstreamIsNoCredentialOfAPlatform() {
        let expected =
            "tenants[0].apps[0].platforms.ios.production: 'old' is an upstream; name a credential of kind apns-token or apns-certificate"
        #expect(problem(Self.braze, platform: "old") == expected)
    }

    // Rules are checked before the message that this version does not carry them out, so that an author corrects the rules first.
    @Test(arguments: [
        (
            "{ calls: [{ kinds: [send], action: serveAndForward, upstream: old }] }",
            "calls[0]: a send that is served and forwarded"
        ),
        ("{ calls: [{ action: proxy, upstream: new }] }", "calls[0]: 'new' is not a credential of kind upstream-"),
        ("{ deliveries: [{ tags: [a], paths: [old] }] }", "deliveries[0]: 'old' pushes to all devices of a user"),
        (
            "{ calls: [{ kinds: [device], action: followMessage, upstream: old }] }",
            "calls[0]: followMessage of kind device is understood, but this version"
        ),
        ("{ calls: [{ action: server }] }", "calls[0].action: must be one of serve,"),
    ])
    func rulesThatAreNotCarriedOutAreRefused(_ routes: String, _ expected: String) {
        let found = problem(Self.braze, routes: routes)
        #expect(found?.hasPrefix("tenants[0].apps[0].routes.\(expected)") == true, "\(found ?? "none")")
    }

    @Test(arguments: [
        "[]", "{}", "{ calls: [{ action: serve }], deliveries: [{ lane: urgent, paths: [apns] }] }",
        "{ duplicateGuard: { window: 10m } }",
    ])
    func theDefaultMayBeStated(_ routes: String) { #expect(problem(Self.braze, routes: routes) == nil) }

    @Test(arguments: [
        "{ calls: [{ kinds: [send], action: proxy, upstream: old }] }",
        "{ calls: [{ kinds: [device], action: proxy, upstream: old, onOutage: serve }, { action: refuse }] }",
    ])
    func callsMayBeProxiedAndRefused(_ routes: String) { #expect(problem(Self.braze, routes: routes) == nil) }
}
