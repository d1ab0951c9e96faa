import AccountStore
import GatewayHTTP
import HTTPTypes
import Hummingbird
import Model
import NIOConcurrencyHelpers
import NIOCore
import NativeHTTP
import PageParts

/// Performs the calls of pages: the native API's in this process, and those below `console/` by the console itself.
struct ConsoleCalls: Sendable {
    /// 4 MiB: the largest answer of a page's call. Exports pass through without being collected.
    static let answerBytes = 4 << 20
    /// Calls of one page at a time: the pool of the store has few connections.
    private static let width = 4

    let native: NativeRouter
    let resources: AccountResources
    let people: PersonalData

    /// Performs the calls of a round: a few at a time, the next one as soon as one of them has its answer.
    func answers(
        _ calls: [APICall],
        for caller: ConsoleCaller,
        _ context: CallContext,
        isRevealed: Bool = false,
        hidden: HiddenNote? = nil
    ) async -> [(name: String, answer: APIAnswer)] {
        let perform: @Sendable (APICall) async -> (String, APIAnswer) = { call in
            (call.name, await answer(call, for: caller, context, isRevealed: isRevealed, hidden: hidden))
        }
        return await withTaskGroup(of: (String, APIAnswer).self) { group in
            var rest = calls[...]
            for _ in 0..<Self.width {
                guard let call = rest.popFirst() else { break }
                group.addTask { await perform(call) }
            }
            var answers: [(name: String, answer: APIAnswer)] = []
            while let (name, answer) = await group.next() {
                answers.append((name: name, answer: answer))
                if let call = rest.popFirst() { group.addTask { await perform(call) } }
            }
            return answers
        }
    }

    /// Performs one call. A call that the account may not make is answered as the native API would.
    func answer(
        _ call: APICall,
        for caller: ConsoleCaller,
        _ context: CallContext,
        isRevealed: Bool = false,
        hidden: HiddenNote? = nil
    ) async -> APIAnswer {
        guard let path = Self.segments(call.path) else { return Self.problem(.notFound("no such path")) }
        if path.first == "console" {
            return await caller.timing.call { await resources.answer(call, Array(path.dropFirst()), for: caller) }
        }
        if let refusal = await refusal(call.method, path, caller, context) { return refusal }
        guard let (request, context) = prepared(call, path, caller, context) else {
            return Self.problem(.notFound("no such path"))
        }
        let received = await caller.timing.call { await receive(request, context) }
        guard let received else { return Self.problem(.unavailable(5)) }
        var answer = Self.answer(received.head, received.bytes)
        if caller.isMasked(path), !isRevealed {
            let masked = people.masked(answer.body, path: path)
            if masked != answer.body { hidden?.note() }
            answer.body = masked
        }
        return answer
    }

    /// The response of a call that is passed on unchanged: an export. Nil: it is not permitted, or not a call of the native API.
    func response(_ call: APICall, for caller: ConsoleCaller, _ context: CallContext) async throws -> Response? {
        guard let path = Self.segments(call.path), path.first != "console",
            await refusal(call.method, path, caller, context) == nil,
            let (request, context) = prepared(call, path, caller, context)
        else { return nil }
        return try await native.respond(to: request, context: context)
    }

    // MARK: Rights

    private func refusal(
        _ method: APICall.Method,
        _ path: [String],
        _ caller: ConsoleCaller,
        _ context: CallContext
    ) async -> APIAnswer? {
        guard let permission = CallRights.permission(method, path) else {
            return Self.problem(.notFound("no such path"))
        }
        if caller.may(permission) { return nil }
        // The queue is a fact about the installation, which accounts with the platform right see too.
        if path == ["queue"], caller.account.isPlatform { return nil }
        guard permission == .operate, caller.may(.operate, isOwn: true), let message = CallRights.ownMessage(path)
        else { return Self.forbidden(permission) }
        let facts = APICall("message", .get, "messages/\(PercentCoding.encode(message))")
        let sender = await answer(facts, for: caller, context).body["submittedBy"]?.string
        return sender == "account:\(caller.session.name)" ? nil : Self.forbidden(permission)
    }

    private static func forbidden(_ permission: Permission) -> APIAnswer {
        let roles = Role.allCases.filter { permission.roles.contains($0) }.map(\.rawValue).joined(separator: ", ")
        return problem(Problem(.forbidden, "needs one of the roles \(roles)"))
    }

    // MARK: Requests and answers

    /// The segments of a path, decoded. Nil: it is not a path of segments.
    static func segments(_ path: String) -> [String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.isEmpty, parts.count <= 16, path.utf8.count <= 2048, path.utf8.allSatisfy(isPathByte) else {
            return nil
        }
        var segments: [String] = []
        for part in parts {
            guard let text = PercentCoding.decode(part.utf8, plusIsSpace: false), !text.isEmpty, text != ".",
                text != ".."
            else { return nil }
            segments.append(text)
        }
        return segments
    }

    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~%/:@!$&'()*+,;=".utf8.contains(byte)
        }
    }

    private func prepared(
        _ call: APICall,
        _ path: [String],
        _ caller: ConsoleCaller,
        _ context: CallContext
    ) -> (Request, CallContext)? {
        guard let method = HTTPRequest.Method(call.method.rawValue),
            let permission = CallRights.permission(call.method, path)
        else { return nil }
        var target = "/v1/" + call.path
        var pairs: [String] = []
        for parameter in call.query {
            guard let value = people.opened(parameter.value) else { return nil }
            pairs.append("\(PercentCoding.encode(parameter.name))=\(PercentCoding.encode(value))")
        }
        if !pairs.isEmpty { target += "?" + pairs.joined(separator: "&") }
        var head = HTTPRequest(method: method, scheme: nil, authority: nil, path: target)
        if let tag = call.ifMatch { head.headerFields[.ifMatch] = tag }
        if let once = call.once, let name = HTTPField.Name("Idempotency-Key") { head.headerFields[name] = once }
        var body = ByteBuffer()
        if let bytes = call.bytes {
            body = ByteBuffer(bytes: bytes)
            head.headerFields[.contentType] = "application/octet-stream"
        } else if let json = call.body {
            body = ByteBuffer(bytes: JSONWriter.bytes(json))
            head.headerFields[.contentType] = "application/json"
        }
        head.headerFields[.contentLength] = "\(body.readableBytes)"
        var context = context
        context.account = caller.grant(for: permission)
        return (Request(head: head, body: RequestBody(buffer: body)), context)
    }

    /// The native API's answer. Nil: there is none, or it is too large.
    private func receive(_ request: Request, _ context: CallContext) async -> (head: HTTPResponse, bytes: [UInt8])? {
        guard let response = try? await native.respond(to: request, context: context),
            let bytes = try? await CollectedBody.bytes(of: response, limitBytes: Self.answerBytes)
        else { return nil }
        return (response.head, bytes)
    }

    private static func answer(_ head: HTTPResponse, _ bytes: [UInt8]) -> APIAnswer {
        var answer = APIAnswer(
            status: Int(head.status.code),
            body: .null,
            entityTag: head.headerFields[.eTag],
            requestID: CallID.current?.description ?? ""
        )
        if let name = HTTPField.Name("X-Event-Head") {
            answer.eventHead = head.headerFields[name].flatMap { Int64($0) }
        }
        let type = head.headerFields[.contentType] ?? ""
        if type.hasPrefix("application/x-ndjson") {
            let lines = bytes.split(separator: 0x0A).compactMap { try? JSONParser.parse(Array($0)) }
            answer.body = .array(lines)
        } else if !bytes.isEmpty {
            answer.body = (try? JSONParser.parse(bytes)) ?? .null
        }
        return answer
    }

    static func problem(_ problem: Problem) -> APIAnswer {
        APIAnswer(
            status: problem.status,
            body: [
                "type": .string(Problem.type(problem.code)), "title": .string(problem.code.entry.title),
                "status": .int(problem.status), "code": .string(problem.code.rawValue),
                "detail": .string(problem.detail),
            ],
            requestID: CallID.current?.description ?? ""
        )
    }
}

/// Whether any answer of a page was masked, so that the page offers to show it.
final class HiddenNote: Sendable {
    private let isNoted = NIOLockedValueBox(false)

    func note() { isNoted.withLockedValue { $0 = true } }
    var isSet: Bool { isNoted.withLockedValue { $0 } }
}

/// The body of a response, collected in memory.
enum CollectedBody {
    /// The body is larger than the limit.
    struct TooLarge: Error {}

    private struct Writer: ResponseBodyWriter {
        let bytes: NIOLockedValueBox<[UInt8]>
        let limitBytes: Int

        mutating func write(_ buffer: ByteBuffer) async throws {
            let fits = bytes.withLockedValue { bytes in
                guard bytes.count + buffer.readableBytes <= limitBytes else { return false }
                bytes.append(contentsOf: buffer.readableBytesView)
                return true
            }
            guard fits else { throw TooLarge() }
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    /// - Throws: `TooLarge`, or what the body throws.
    static func bytes(of response: Response, limitBytes: Int) async throws -> [UInt8] {
        let box = NIOLockedValueBox<[UInt8]>([])
        try await response.body.write(Writer(bytes: box, limitBytes: limitBytes))
        return box.withLockedValue { $0 }
    }
}
