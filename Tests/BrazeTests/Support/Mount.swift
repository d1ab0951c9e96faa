import Foundation
import HTTPTypes
import Model
import Testing

@testable import Braze

/// The parts of the gateway in front of the adapter, and the settings of a binding.
enum Mount {
    static let adapter = BrazeAdapter()
    /// 2026-01-01 00:00 UTC.
    static let now = Timestamp(seconds: 1_767_225_600)
    /// The documented key, which has every permission.
    static let key = "00000000-aaaa-4bbb-8ccc-dddddddddddd"
    /// A key that may only track users.
    static let trackKey = "a key that only tracks"
    /// A key that may only send, from one address.
    static let officeKey = "a key for the office"

    static let settings = BindingSettings(
        tenant: "acme",
        app: "shop",
        values: [
            "keys": [
                // The SHA-256 values are from coreutils, so they check the adapter's own.
                "3bbf6796ffed62326410fc78caf6e85adabbd707d631747ba1df61246e70b13f": [
                    "name": "all", "permissions": ["*"],
                ],
                BrazeSettings.hash(trackKey): ["name": "track", "permissions": ["users.track"]],
                BrazeSettings.hash(officeKey): [
                    "name": "office", "permissions": ["messages.send"], "addresses": ["192.0.2.1"],
                ],
            ]
        ]
    )

    static func request(
        _ path: String = "/messages/send",
        _ body: String,
        method: HTTPRequest.Method = .post,
        key: String? = key,
        query: String? = nil,
        from address: String? = nil
    ) -> VendorRequest {
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        headers[.authorization] = key.map { "Bearer \($0)" }
        return VendorRequest(
            route: BrazeCall(rawValue: path).map { "braze.\($0)" } ?? "braze.send",
            method: method,
            path: path,
            query: query,
            headers: headers,
            body: Array(body.utf8),
            remoteAddress: address,
            receivedAt: now
        )
    }

    /// The answer to a client if `reply` answers the commands.
    static func answer(_ request: VendorRequest, _ reply: (Command) -> Reply = Mount.reply) -> VendorResponse {
        do throws(AdapterError) {
            _ = try adapter.locate(request)
            var replies = try adapter.decode(request, settings: settings).map(reply)
            for _ in 0..<6 {
                let sequel = try adapter.sequel(to: replies, of: request, settings: settings)
                if sequel.isEmpty { break }
                replies = sequel.map(reply)
            }
            return adapter.encode(replies, for: request, settings: settings)
        } catch {
            return adapter.refuse(error, for: request, settings: settings)
        }
    }

    static func submission(_ request: VendorRequest) throws -> Submission {
        _ = try adapter.locate(request)
        let command = try #require(try adapter.decode(request, settings: settings).first)
        guard case .submission(.submit(let submission)) = command else {
            throw AdapterError(.invalid, field: "\(command)")
        }
        return submission
    }

    /// A send of one push to `u-1`.
    static func send(_ push: String) -> VendorRequest {
        request("/messages/send", #"{"external_user_ids":["u-1"],"messages":{"apple_push":\#(push)}}"#)
    }

    static let message = MessageID(rawValue: UUID(uuidString: "4F9C2B7E-1D2A-4C6F-8B0E-3A5D7C9F1B2D") ?? UUID())
    static let target = TargetID(rawValue: UUID(uuidString: "00000000-0000-4000-8000-0000000000FF") ?? UUID())
    /// The replies of a gateway without campaigns and schedules.
    static func reply(_ command: Command) -> Reply {
        if case .user(let command) = command { return .user(reply(command)) }
        guard case .campaign(let command) = command else { return accepted }
        switch command {
        case .find: return .campaign(.found(nil))
        case .schedule: return .campaign(.schedule(nil))
        case .schedules: return .campaign(.schedules([]))
        case .series: return .campaign(.series([]))
        case .makeName: return .campaign(.name("made-up"))
        case .put, .list, .remove, .cancelSchedule: return .campaign(.removed(false))
        case .visit: return .campaign(.visited(false))
        }
    }

    /// The replies of a gateway that accepts every command and has no users.
    private static func reply(_ command: UserCommand) -> UserReply {
        switch command {
        case .track(let batch): .tracked(patches: batch.patches.map { _ in nil }, acts: batch.acts.map { _ in nil })
        case .describe(let names, _): .described(names.map { _ in nil })
        case .erase(let names): .erased(names.count)
        case .name(let users): .named(users.count)
        case .identify(let users): .identified(users.count)
        case .merge(let merges): .merged(merges.count)
        case .consent(let changes): .consented(changes.reduce(0) { $0 + $1.users.count })
        }
    }

    static let accepted = Reply.submission(.accepted(message, recipients: 2))

    /// The push for one device that results from a send.
    static func push(_ request: VendorRequest) throws -> PushPayload {
        let submission = try submission(request)
        let notification = Notification(
            message: message,
            origin: .braze,
            content: submission.content,
            sentAt: now,
            collapseID: submission.collapseID
        )
        return try adapter.payload(for: notification, to: facts, settings: settings)
    }

    static let facts = TargetFacts(
        target: target,
        identity: IdentityID(target.rawValue),
        device: nil,
        app: "shop",
        vendor: .braze,
        key: "k",
        destination: PushDestination(
            platform: .ios,
            environment: .production,
            token: nil,
            tokenState: .active
        )
    )
}

extension VendorResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSON? { try? JSONParser.parse(body) }
    var message: String? { json?["message"]?.string }
    func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    /// Compares the response with a documented answer: status, every documented header, and the body.
    func fault(against name: String) throws -> String? {
        let example = try Fixture.message(name)
        if !example.line.contains(" \(status) ") { return "status \(status), not \(example.line)" }
        for (name, value) in example.headers where header(name) != value {
            return "\(name): \(header(name) ?? "none"), not \(value)"
        }
        let documented = try JSONParser.parse(example.body)
        return json == documented ? nil : "\(text) is not \(example.body)"
    }
}

/// One documented example: the bytes of a fenced block of the contract, copied and never produced by this project's
/// encoder.
enum Fixture {
    /// The text of the fixture `name`, without the newline that ends the file.
    static func text(_ name: String) throws -> String {
        let root = try #require(Bundle.module.resourceURL)
        let text = try String(contentsOf: root.appendingPathComponent("Fixtures/\(name)"), encoding: .utf8)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    /// Head and body of an example of HTTP.
    static func message(_ name: String) throws -> (line: String, headers: [(String, String)], body: String) {
        let text = try text(name)
        let end = text.firstRange(of: "\n\n")
        let head = (end.map { text[..<$0.lowerBound] } ?? text[...]).split(separator: "\n").map(String.init)
        let headers = head.dropFirst().compactMap { line -> (String, String)? in
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        return (try #require(head.first), headers, end.map { String(text[$0.upperBound...]) } ?? "")
    }

    /// A documented request with exactly the key that it shows.
    static func request(_ name: String) throws -> VendorRequest {
        let message = try message(name)
        let words = message.line.split(separator: " ").map(String.init)
        let shown = message.headers.first { $0.0 == "Authorization" }?.1
        return Mount.request(
            words[1],
            message.body,
            method: try #require(HTTPRequest.Method(words[0])),
            key: shown.map { $0.replacingOccurrences(of: "Bearer ", with: "") }
        )
    }
}
