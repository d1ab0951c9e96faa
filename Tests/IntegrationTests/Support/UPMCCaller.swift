import AsyncHTTPClient
import Foundation
import Logging
import Model
import NIOCore
import NIOHTTP1
import Postgres
import Testing

@testable import Gateway

/// Calls of a UPMC app and of a UPMC back end, as forms over real HTTP.
struct UPMCCaller: Sendable {
    /// Scheme, host and port of a node.
    var base: String
    var application = "com.example.upmc"
    var prefix = "/upmc"

    struct Answer: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var json: JSON

        var code: String? { json["HEADER"]?["RESULT_CODE"]?.string }
        var body: JSON? { json["BODY"] }
        /// The first of a list.
        var first: JSON? { body?.array?.first }
    }

    static func encode(_ text: String) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    /// - Throws: the client's error when there is no answer, the parser's when it is no JSON.
    func call(_ name: String, _ fields: [String: String]) async throws -> Answer {
        let all = fields.merging(["APP_ID": application]) { first, _ in first }
        let form = all.filter { !($0.key == "APP_ID" && $0.value.isEmpty) }
            .map { Self.encode($0.key) + "=" + Self.encode($0.value) }.joined(separator: "&")
        return try await post(name, "application/x-www-form-urlencoded", Array(form.utf8))
    }

    /// The same as a multipart form, with a file where there is one.
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
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        return Answer(
            status: Int(response.status.code),
            headers: response.headers,
            json: try JSONParser.parse(Array(buffer.readableBytesView))
        )
    }

    /// Any other call as it is.
    static func raw(_ method: HTTPMethod, _ url: String) async throws -> (
        status: Int, headers: HTTPHeaders, text: String
    ) {
        var request = HTTPClientRequest(url: url)
        request.method = method
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        return (Int(response.status.code), response.headers, String(buffer: buffer))
    }

    // MARK: What apps do

    /// One installation.
    struct Phone: Sendable {
        var device = SystemIdentifiers().randomHex(byteCount: 8)
        var token = SystemIdentifiers().randomHex(byteCount: 32)
        var user: String

        var fields: [String: String] {
            ["PNSID": "APNS", "DEVICE_ID": device, "DEVICE_TYPE": "I", "PSID": token, "CUID": user]
        }
    }

    @discardableResult
    func register(_ phone: Phone, _ more: [String: String] = [:]) async throws -> Answer {
        let fields = phone.fields.merging(["CNAME": phone.user.capitalized, "APNS_MODE": "REAL"]) { $1 }
        let answer = try await call("new_rcv_register_service_and_user", fields.merging(more) { $1 })
        try #require(answer.code == "0000", "\(JSONWriter.text(answer.json))")
        return answer
    }

    /// Sends to users; gives the number.
    func send(to users: [String], _ more: [String: String] = [:]) async throws -> String {
        let list = JSONWriter.text(.array(users.map { .string($0) }))
        let fields = ["TYPE": "E", "CUID": list, "MESSAGE": "Hello", "SENDERCODE": "admin"].merging(more) { $1 }
        let answer = try await call("rcv_register_message", fields)
        try #require(answer.code == "0000", "\(JSONWriter.text(answer.json))")
        return try #require(answer.body?["SENDMSG_SEQNO"]?.string)
    }

    func read(_ phone: Phone, _ number: String, badge: Int?) async throws -> Answer {
        var fields = phone.fields.merging(["SEQNO": number]) { $1 }
        fields["BADGENO"] = badge.map(String.init)
        return try await call("rcv_register_send_result", fields)
    }
}

extension World {
    /// The tenants file with apps of this vendor beside the demo's: `upmc` and one app per version, and one that asks for keys.
    func applyUPMC(publicURL: String? = nil) async throws {
        _ = try await apply()
        let path = material.path("tenants.yaml")
        var text = try String(contentsOfFile: path, encoding: .utf8)
        let page = publicURL.map { ", publicUrl: \"\($0)\"" } ?? ""
        func app(_ id: String, _ version: String, _ rest: String = "") -> String {
            """

                  - id: \(id)
                    platforms:
                      ios: { topic: \(DemoMaterial.topic), production: apple }
                    bindings:
                      upmc: { applicationId: com.example.\(id), version: "\(version)"\(rest), settings: { mutableContent: "off"\(page)
            """
        }
        text += app("upmc", "4.0EE") + " } }"
        for (index, version) in Self.versions.enumerated() { text += app("v\(index)", version) + " } }" }
        text += app("old", "3.0", ", bundleId: com.example.bundle, host: localhost") + " } }"
        text += app("secured", "5.0", ", authKeySecretEnv: UPMC_SECRET") + ", security: { using: true } } }"
        text += app("open", "5.0") + ", history: { cuidAlone: \"on\" } } }"
        // Another tenant, whose app nothing is pushed to.
        text += """

              - id: other
                apps:
                  - id: upmc
                    bindings:
                      upmc: { applicationId: com.example.other, version: "4.0EE" }
            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let applied = try await apply("tenants.yaml", environment: ["UPMC_SECRET": "a secret of sixteen"])
        try #require(applied.status == 0, "\(applied.log)")
        // A running gateway follows within a second.
        try await Task.sleep(for: .milliseconds(1500))
    }

    /// The column `value` of the one row that a statement answers.
    func value(_ sql: String) async throws -> String {
        let configuration = try await GatewayConfiguration.load(
            flags: ["data.dir": material.path("data")],
            configFile: nil
        )
        return try await Database.with(
            configuration,
            logger: Logger(label: "test") { JSONLogHandler(label: $0, level: .error) },
            progress: { _ in }
        ) { database in
            try await database.engine.run(Statement(sql), tenant: nil).only().text("value")
        }
    }

    static let versions = ["3.0", "3.5", "3.6", "3.7", "3.8", "4.0", "4.0EE", "5.0", "5.1"]

    /// The payload that the simulator got for a token, the newest; waits for it.
    func payload(of token: String, count: Int = 1) async throws -> JSON {
        for _ in 0..<600 {
            let answer = try await control.call("GET", "/_simulator/requests?token=\(token)&limit=10")
            let requests = answer.json?["requests"]?.array ?? []
            if requests.count >= count, let payload = requests.last?["payload"] { return payload }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw DemoFailure("the simulator got nothing for \(token.prefix(8))")
    }
}
