import HTTPTypes
import Model
import NIOConcurrencyHelpers
import Outgoing
import Testing

/// A name server with the answers of a test, one after the other; the last one repeats. An empty text means that no name server answers.
final class ScriptedNames: HostResolver {
    private let answers: NIOLockedValueBox<[String]>
    private let asked = NIOLockedValueBox(0)
    private let delay: Duration

    init(_ answers: String..., delay: Duration = .zero) {
        self.answers = NIOLockedValueBox(answers)
        self.delay = delay
    }

    var questions: Int { asked.withLockedValue { $0 } }

    func address(of host: String, within time: Duration) async -> IPAddress? {
        asked.withLockedValue { $0 += 1 }
        if delay > .zero { try? await Task.sleep(for: delay) }
        let answer = answers.withLockedValue { $0.count > 1 ? $0.removeFirst() : $0.first }
        return answer.flatMap { IPAddress($0) }
    }
}

/// A client and one upstream for it.
struct Caller {
    let client: OutgoingClient
    let server: OutgoingServer

    init(
        _ url: String,
        allowing ranges: String...,
        names: any HostResolver = ScriptedNames("127.0.0.1"),
        roots: [UInt8]? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout OutgoingLimits) -> Void = { _ in }
    ) throws {
        var limits = OutgoingLimits()
        // The peer shares its process with all other tests.
        limits.connect = .seconds(60)
        limits.call = .seconds(120)
        limits.idle = .seconds(600)
        change(&limits)
        let ranges = ranges.isEmpty ? ["127.0.0.0/8"] : ranges
        client = OutgoingClient(
            addressGuard: AddressGuard(allowing: ranges.compactMap { AddressRange($0) }),
            resolver: names,
            limits: limits
        )
        server = OutgoingServer(
            credential: CredentialKey(tenant: "acme", credential: "old"),
            url: try #require(OutgoingURL(url), sourceLocation: sourceLocation),
            trustRoots: roots
        )
    }

    /// The answer's status and its body, or the error.
    func call(
        _ target: String = "/",
        method: HTTPRequest.Method = .get,
        fields: HTTPFields = HTTPFields(),
        body: [UInt8] = [],
        upTo limit: Int = 1 << 20,
        collecting: Int? = nil
    ) async -> Result<(status: Int, version: String, body: String), OutgoingError> {
        do throws(OutgoingError) {
            let request = OutgoingRequest(method: method, target: target, fields: fields, body: body)
            let response = try await client.call(request, to: server, collecting: collecting)
            let bytes = try await response.body.bytes(upTo: limit)
            return .success((response.status, response.version, String(decoding: bytes, as: UTF8.self)))
        } catch {
            return .failure(error)
        }
    }

    /// Waits until no call is in flight. A place becomes free just after the last byte was read.
    func rests() async throws {
        while client.inFlight(server.credential) > 0 { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Only the error.
    func failure(_ target: String = "/", body: [UInt8] = [], collecting: Int? = nil) async -> OutgoingError? {
        let method: HTTPRequest.Method = body.isEmpty ? .get : .post
        if case .failure(let error) = await call(target, method: method, body: body, collecting: collecting) {
            return error
        }
        return nil
    }
}
