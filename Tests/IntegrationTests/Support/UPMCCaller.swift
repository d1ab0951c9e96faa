import AsyncHTTPClient
import Foundation
import Logging
import Model
import NIOCore
import NIOHTTP1
import PostgresClient
import Testing

@testable import CommandSupport
@testable import Gateway
@testable import Observability

/// Calls of a UPMC app and of a UPMC back end, as forms over real HTTP.
struct UPMCCaller: Sendable {
    /// Scheme, host and port of a node.
    var base: String
    /// The ending of the names of this test's apps (`World.applyUPMC`).
    var ending = ""
    var application: String
    var prefix = "/upmc"
    /// The host name in place of the called address, because an app of 3.0 is identified by its host.
    var host: String?
    /// Headers in addition to those of a form.
    var headers: [String: String] = [:]

    init(base: String, ending: String = "") {
        self.base = base
        self.ending = ending
        application = "com.example.upmc\(ending)"
    }

    /// The app's id in the gateway.
    func app(_ name: String = "upmc") -> String { name + ending }

    /// The same caller for another app.
    func of(_ name: String) -> UPMCCaller {
        var caller = self
        caller.application = "com.example.\(app(name))"
        return caller
    }

    /// An app of 3.0, which does not name an application. Only its bundle or its host identifies it.
    func nameless() -> UPMCCaller {
        var caller = self
        caller.application = ""
        caller.host = "\(app("old")).example"
        return caller
    }

    /// The bundle of the app of 3.0.
    var bundle: String { "com.example.bundle\(ending)" }

    struct Answer: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var json: JSON

        var code: String? { json["HEADER"]?["RESULT_CODE"]?.string }
        var body: JSON? { json["BODY"] }
        /// The first element of a list.
        var first: JSON? { body?.array?.first }
    }

    static func encode(_ text: String) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    /// - Throws: the client's error without an answer, the parser's error if the answer is not JSON.
    func call(_ name: String, _ fields: [String: String]) async throws -> Answer {
        let all = fields.merging(["APP_ID": application]) { first, _ in first }
        let form = all.filter { !($0.key == "APP_ID" && $0.value.isEmpty) }
            .map { Self.encode($0.key) + "=" + Self.encode($0.value) }.joined(separator: "&")
        return try await post(name, "application/x-www-form-urlencoded", Array(form.utf8))
    }

    /// The same call as a multipart form, with a file if one is given.
    func multipart(_ name: String, _ fields: [String: String], file: String? = nil) async throws -> Answer {
        var body = ""
        for (key, value) in fields.merging(["APP_ID": application], uniquingKeysWith: { first, _ in first }) {
            body += "--XyZ\r\nContent-Disposition: form-data; name=\"\(key)\"\r\n\r\n\(value)\r\n"
        }
        if let file {
            body +=
                "--XyZ\r\nContent-Disposition: form-data; name=\"upload_file\"; filename=\"l.csv\"\r\n\r\n\(file)\r\n"
        }
        return try await post(name, "multipart/form-data; boundary=XyZ", Array((body + "--XyZ--\r\n").utf8))
    }

    private func post(_ name: String, _ type: String, _ body: [UInt8]) async throws -> Answer {
        var request = HTTPClientRequest(url: "\(base)\(prefix)/\(name).ctl")
        request.method = .POST
        request.headers.add(name: "content-type", value: type)
        if let host { request.headers.add(name: "host", value: host) }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        return Answer(
            status: Int(response.status.code),
            headers: response.headers,
            json: try JSONParser.parse(Array(buffer.readableBytesView))
        )
    }

    /// Another call, sent unchanged.
    static func raw(_ method: HTTPMethod, _ url: String) async throws -> (
        status: Int, headers: HTTPHeaders, text: String
    ) {
        var request = HTTPClientRequest(url: url)
        request.method = method
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        return (Int(response.status.code), response.headers, String(buffer: buffer))
    }

    // MARK: Calls of apps

    /// One installation of an app.
    struct Phone: Sendable {
        var device = SystemIdentifiers().randomHex(byteCount: 8)
        var token = SystemIdentifiers().randomHex(byteCount: 32)
        var user: String

        var fields: [String: String] {
            ["PNSID": "APNS", "DEVICE_ID": device, "DEVICE_TYPE": "I", "PSID": token, "CUID": user]
        }
    }

    @discardableResult
    func register(
        _ phone: Phone,
        _ more: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        let fields = phone.fields.merging(["CNAME": phone.user.capitalized, "APNS_MODE": "REAL"]) { $1 }
        let answer = try await call("new_rcv_register_service_and_user", fields.merging(more) { $1 })
        try #require(answer.code == "0000", "\(JSONWriter.text(answer.json))", sourceLocation: sourceLocation)
        return answer
    }

    /// Sends to users and returns the message's number.
    func send(
        to users: [String],
        _ more: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let list = JSONWriter.text(.array(users.map { .string($0) }))
        let fields = ["TYPE": "E", "CUID": list, "MESSAGE": "Hello", "SENDERCODE": "admin"].merging(more) { $1 }
        let answer = try await call("rcv_register_message", fields)
        try #require(answer.code == "0000", "\(JSONWriter.text(answer.json))", sourceLocation: sourceLocation)
        return try #require(answer.body?["SENDMSG_SEQNO"]?.string, sourceLocation: sourceLocation)
    }

    func read(_ phone: Phone, _ number: String, badge: Int?) async throws -> Answer {
        var fields = phone.fields.merging(["SEQNO": number]) { $1 }
        fields["BADGENO"] = badge.map(String.init)
        return try await call("rcv_register_send_result", fields)
    }
}

extension World {
    /// Adds apps of this vendor to the demo's tenant: `upmc`, one app per version, one that requires keys and others; and a tenant `other` with one
    /// app.
    ///
    /// - Parameters:
    ///   - ending: the ending of their names, different for each test of a shared world.
    ///   - publicURL: the URL where the gateway shows pages.
    ///   - sourceLocation: the caller's line.
    /// - Throws: when the file is refused.
    func applyUPMC(
        ending: String = "",
        publicURL: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let path = material.path("tenants.yaml")
        if !FileManager.default.fileExists(atPath: path) { _ = try await apply() }
        let marker = "\n# UPMC\n"
        let written = try String(contentsOfFile: path, encoding: .utf8)
        let before = written.firstRange(of: marker).map { String(written[..<$0.lowerBound]) } ?? written
        upmcApps.append((ending, publicURL))
        let apps = upmcApps.map { Self.upmcApps(ending: $0.ending, publicURL: $0.publicURL) }.joined()
        let others = upmcApps.map { Self.otherTenant(ending: $0.ending) }.joined()
        try (before + marker + apps + others).write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await apply("tenants.yaml", environment: ["UPMC_SECRET": "a secret of sixteen"])
        try #require(applied.status == 0, "\(applied.log)", sourceLocation: sourceLocation)
        let last = UPMCCaller(base: http.base, ending: ending).of("other")
        try await eventually("the apps are served", sourceLocation: sourceLocation) {
            try await last.call("rcv_get_service", UPMCCaller.Phone(user: "nobody").fields).code == "0000"
        }
    }

    private static func upmcApps(ending: String, publicURL: String?) -> String {
        let page = publicURL.map { ", publicUrl: \"\($0)\"" } ?? ""
        func app(_ name: String, _ version: String, _ rest: String = "") -> String {
            """

                  - id: \(name)\(ending)
                    platforms:
                      ios: { topic: \(StageMaterial.topic), production: apple }
                    bindings:
                      upmc: { applicationId: com.example.\(name)\(ending), version: "\(version)"\(rest), settings: { senderNetworks: [127.0.0.1, "::1"], mutableContent: "off"\(page)
            """
        }
        var text = app("upmc", "4.0EE") + " } }"
        for (index, version) in versions.enumerated() { text += app("v\(index)", version) + " } }" }
        let place = ", bundleId: com.example.bundle\(ending), host: old\(ending).example"
        text += app("old", "3.0", place) + " } }"
        text += app("secured", "5.0", ", authKeySecretEnv: UPMC_SECRET") + ", security: { using: true } } }"
        return text + app("open", "5.0") + ", history: { cuidAlone: \"on\" } } }"
    }

    /// Another tenant, to whose app nothing is pushed.
    private static func otherTenant(ending: String) -> String {
        """

          - id: other\(ending)
            apps:
              - id: upmc
                bindings:
                  upmc: { applicationId: com.example.other\(ending), version: "4.0EE", settings: { senderNetworks: [127.0.0.1, "::1"] } }
        """
    }

    /// The column `value` of the single row that a statement returns.
    func value(_ sql: String) async throws -> String { try await row(sql).text("value") }

    static let versions = ["3.0", "3.5", "3.6", "3.7", "3.8", "4.0", "4.0EE", "5.0", "5.1"]

    /// Waits for `count` payloads for a token at the simulator and returns the newest.
    func payload(
        of token: String,
        count: Int = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSON {
        try await first("push \(count) for \(token.prefix(8))", sourceLocation: sourceLocation) {
            let answer = try await control.call("GET", "/_simulator/requests?token=\(token)&limit=10")
            let requests = answer.json?["requests"]?.array ?? []
            return requests.count >= count ? requests.last?["payload"] : nil
        }
    }
}
