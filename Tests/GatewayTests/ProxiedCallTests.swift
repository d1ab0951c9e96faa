import Adapters
import CoreMetrics
import HTTPTypes
import Model
import Outgoing
import Testing
import UpstreamSupport

@testable import Gateway
@testable import GatewayHTTP
@testable import Observability

private func fields(_ pairs: [(String, String)]) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in pairs {
        if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
    return fields
}

private func lines(_ fields: HTTPFields) -> [String] { fields.map { "\($0.name.rawName): \($0.value)" } }

/// The header fields of proxied calls (docs/routing.md#proxying).
@Suite struct ProxyHeadersTests {
    private let name = "push-gateway-0123456789abcdef"

    @Test func onlyFieldsOfTheConnectionAreRemovedAndViaIsAdded() {
        let arrived = fields([
            ("host", "push.example.com"), ("Authorization", "Bearer x"), ("Connection", "keep-alive, X-Own , close"),
            ("X-Own", "1"), ("Keep-Alive", "timeout=5"), ("TE", "trailers"), ("Transfer-Encoding", "chunked"),
            ("Upgrade", "websocket"), ("Proxy-Authorization", "y"), ("Proxy-Connection", "close"), ("Trailer", "z"),
            ("Expect", "100-continue"), ("Content-Length", "3"), ("Cookie", "a=b"), ("cOOkie", "c=d"),
            ("Content-Encoding", "br"), ("X-Forwarded-For", "192.0.2.1"),
        ])
        #expect(
            lines(ProxyHeaders.request(arrived, by: name)) == [
                "Authorization: Bearer x", "Cookie: a=b", "cOOkie: c=d", "Content-Encoding: br",
                "X-Forwarded-For: 192.0.2.1", "Via: 1.1 \(name)",
            ]
        )
    }

    @Test func anAnswerKeepsItsLengthAndItsOwnFields() {
        let arrived = fields([
            ("Date", "yesterday"), ("Server", "nginx"), ("Content-Length", "3"), ("Connection", "close"),
            ("Keep-Alive", "x"), ("Set-Cookie", "a"), ("Set-Cookie", "b"), ("Via", "1.1 front"),
        ])
        #expect(
            lines(ProxyHeaders.answer(arrived)) == [
                "Date: yesterday", "Server: nginx", "Content-Length: 3", "Set-Cookie: a", "Set-Cookie: b",
                "Via: 1.1 front",
            ]
        )
    }

    @Test func rulesSeeTheFieldsThatLeave() {
        let arrived = fields([("Connection", "x-tags, host"), ("X-Tags", "a"), ("Host", "h"), ("X-Other", "b")])
        #expect(lines(ProxyHeaders.endToEnd(arrived)) == ["Host: h", "X-Other: b"])
        #expect(lines(ProxyHeaders.endToEnd(fields([("X-Tags", "a")]))) == ["X-Tags: a"])
        let kept = fields([
            ("Connection", "keep-alive"), ("connection", "x-tags"), ("X-Tags", "a"), ("Keep-Alive", "9"), ("A", "1"),
        ])
        #expect(lines(ProxyHeaders.endToEnd(kept)) == ["A: 1"])
    }

    // A caller could hide a loop by naming Via as a field of its connection.
    @Test func viaIsNotAFieldOfTheConnection() {
        let kept = ProxyHeaders.request(fields([("Connection", "via"), ("Via", "1.1 front")]), by: name)
        #expect(lines(kept) == ["Via: 1.1 front", "Via: 1.1 \(name)"])
    }

    @Test(arguments: [
        ([String](), false), (["1.1 front"], false), (["1.1 a, 2.0 b"], false), (["1.1 a (x, y), 1.1 b"], false),
        (["1.1 a, 1.1 b, 1.1 c"], true), (["1.1 a", "1.1 b", "1.1 c"], true),
        (["1.1 push-gateway-0123456789abcdef"], true), (["1.0 a, HTTP/1.1  PUSH-gateway-0123456789abcdef (z)"], true),
        (["1.1 push-gateway-0123456789abcdee"], false), (["push-gateway-0123456789abcdef"], false), ([", ,"], false),
        // Comments that do not end, and brackets that stand for themselves.
        (["1.1 a (, 1.1 push-gateway-0123456789abcdef"], true), (["1.1 a (x, 1.1 b, 1.1 c"], true),
        ([#"1.1 a (\(), 1.1 push-gateway-0123456789abcdef"#], true), ([#"1.1 a (\), y, z), 1.1 b"#], false),
    ])
    func aLoopIsFound(_ via: [String], _ expected: Bool) {
        #expect(ProxyHeaders.isLoop(fields(via.map { ("Via", $0) }), by: name) == expected)
    }
}

/// The request to an upstream, and the answers when there is none.
@Suite struct ProxiedCallTests {
    private func call(_ body: String = "", _ headers: [(String, String)] = []) -> VendorRequest {
        VendorRequest(
            route: "send",
            path: "/relay/send//x",
            query: "a=%41&b",
            headers: fields(headers),
            body: Array(body.utf8)
        )
    }

    @Test func theBytesThatArrivedLeave() {
        var arrived = call("compressed", [("Content-Encoding", "GZip"), ("Content-Type", "application/json")])
        let compressed = CompressedBody(arrived)
        arrived.body = Array("inflated".utf8)
        arrived.headers[.contentEncoding] = nil
        let request = ProxiedCall.request(arrived, of: arrived, compressed, by: "g")
        #expect(request.body == Array("compressed".utf8) && request.target == "/relay/send//x?a=%41&b")
        #expect(
            lines(request.fields) == ["Content-Type: application/json", "Content-Encoding: GZip", "Via: 1.1 g"]
        )
        #expect(request.method == .post)
        // A body that `prepare` has changed is not compressed.
        var changed = arrived
        changed.body = Array("changed".utf8)
        let other = ProxiedCall.request(changed, of: arrived, compressed, by: "g")
        #expect(other.body == Array("changed".utf8) && other.fields[.contentEncoding] == nil)
        // An empty query keeps its question mark.
        var empty = call()
        empty.query = ""
        #expect(ProxiedCall.request(empty, of: empty, nil, by: "g").target == "/relay/send//x?")
        empty.query = nil
        #expect(ProxiedCall.request(empty, of: empty, nil, by: "g").target == "/relay/send//x")
    }

    @Test func shortAnswersAreReadWhole() {
        let short = fields([("Content-Length", "65536")])
        #expect(ProxiedCall.wholeLength(200, short, of: .post) == 65_536)
        #expect(ProxiedCall.wholeLength(200, fields([("Content-Length", "65537")]), of: .post) == nil)
        #expect(ProxiedCall.wholeLength(200, fields([("Content-Length", "-1")]), of: .post) == nil)
        #expect(ProxiedCall.wholeLength(200, fields([]), of: .post) == nil)
        for status in [204, 304] { #expect(ProxiedCall.wholeLength(status, fields([]), of: .post) == 0) }
        #expect(ProxiedCall.wholeLength(200, fields([("Content-Length", "9000000")]), of: .head) == 0)
        let statuses = [99, 100, 101, 199, 200, 999, 1000].map { ProxiedCall.isStatus($0) }
        #expect(statuses == [false, false, false, false, true, true, false])
    }

    @Test(arguments: [
        (ProxiedCall.Failure.failed(.busy), CallKind.send, 503, "5"),
        (.failed(.unsent(.connection)), .send, 503, "5"), (.failed(.forbidden), .read, 503, "5"),
        (.failed(.unresolved), .other, 503, "5"), (.notOpen, .device, 503, "5"), (.crowded, .send, 503, "5"),
        (.failed(.indeterminate(.timeout)), .receipt, 503, "5"), (.failed(.indeterminate(.timeout)), .send, 504, ""),
        (.unreadable, .message, 504, ""), (.unreadable, .user, 503, "5"), (.loop, .send, 508, ""),
        (.unfit, .send, 404, ""), (.failed(.invalid), .send, 400, ""),
    ])
    func aCallWithoutAnAnswerGetsTheDialects(
        _ failure: ProxiedCall.Failure,
        _ kind: CallKind,
        _ status: Int,
        _ retry: String
    ) {
        let answer = ProxiedCall.answer(to: failure, kind, call(), RelayAdapter(), .unbound)
        #expect(answer.status == status && (answer.headers[.retryAfter] ?? "") == retry)
        #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix(#"{"relay":"#))
    }

    // A send that may have arrived must not be repeated.
    @Test func aDialectThatAnswersWith200DoesNotAskToTryAgain() throws {
        let adapter = try #require(Vendors.all.first { $0.vendor == "ipns" })
        func text(_ kind: CallKind) -> String {
            let answer = ProxiedCall.answer(to: .failed(.indeterminate(.timeout)), kind, call(), adapter, .unbound)
            return "\(answer.status) " + String(decoding: answer.body, as: UTF8.self)
        }
        for kind in [CallKind.send, .message, .other] {
            #expect(text(kind).hasPrefix("200 ") && text(kind).contains("REQUEST TIMED OUT"))
        }
        #expect(text(.receipt).hasPrefix("200 ") && text(.receipt).contains("TEMPORARILY UNAVAILABLE"))
    }

    @Test func onlyAnUpstreamThatDoesNotAnswerIsAnOutage() {
        let outages: [ProxiedCall.Failure] = [
            .unreadable, .failed(.busy), .failed(.unsent(.connection)), .failed(.indeterminate(.closed)),
        ]
        let others: [ProxiedCall.Failure] = [.loop, .unfit, .notOpen, .crowded, .failed(.invalid)]
        #expect(outages.allSatisfy(\.isOutage) && !others.contains(where: \.isOutage))
    }
}

/// Heads that another server wrote.
@Suite struct ForeignHeadTests {
    @Test func aForeignHeadPassesTheFrameworkUnchanged() {
        let foreign = fields([
            ("dATE", "yesterday"), ("X-Request-ID", "theirs"), ("A", "1"), ("Server", "nginx"), ("A", "2"),
            ("Date", "last"), ("date", "week"), ("sERVER", "too"), ("x-request-id", "small"), ("X-Request-Id", "large"),
        ])
        var passing = ForeignHead.kept(foreign)
        passing[.date] = "today"
        passing[.server] = "push-gateway"
        if let name = HTTPField.Name("X-Request-Id") { passing[name] = "ours" }
        #expect(ForeignHead.restored(passing).map(lines) == lines(foreign))
        // One without these fields gets none.
        var bare = ForeignHead.kept(fields([("A", "1")]))
        bare[.date] = "today"
        bare[.server] = "push-gateway"
        #expect(ForeignHead.restored(bare).map(lines) == ["A: 1"])
    }

    @Test func theGatewaysOwnHeadStays() {
        #expect(ForeignHead.restored(fields([("Date", "today")])) == nil)
        #expect(ForeignHead.restored(fields([("A", "1"), ("x-push-gateway-foreign", "1")])) == nil)
        #expect(ForeignHead.restored(fields([])) == nil)
    }

    // An upstream cannot name fields so that others appear.
    @Test func theNamesOnTheWayAreNoNamesOfAPeer() {
        let foreign = fields([("x-push-gateway-kept-date", "forged"), ("x-push-gateway-foreign", "1"), ("A", "1")])
        #expect(ForeignHead.restored(ForeignHead.kept(foreign)).map(lines) == ["A: 1"])
    }
}

@Suite struct UpstreamMetricTests {
    @Test func aRemovedUpstreamKeepsNoHandles() {
        let counts = OpenUpstreams().counts
        let (old, new) = (
            CredentialKey(tenant: "t", credential: "old"), CredentialKey(tenant: "t", credential: "new")
        )
        for key in [old, new] {
            counts.count(key, .send, .busy)
            counts.record(.seconds(1), of: key)
            counts.countRemembered(key)
        }
        #expect(counts.handleCount == 6)
        counts.forget(old)
        #expect(counts.handleCount == 3)
    }

    // The registry adds the unit.
    @Test func theHistogramHasItsNameOnce() {
        #expect(MetricName.upstreamSeconds.timer([]).label == "upstream")
    }
}

/// A failing upstream does not fill the log.
@Suite struct FailureLinesTests {
    @Test func oneLinePerUpstreamAndSecondHasTheNumberOfCalls() {
        let lines = FailureLines()
        let (old, new) = (
            CredentialKey(tenant: "t", credential: "old"), CredentialKey(tenant: "t", credential: "new")
        )
        let start = ContinuousClock.now
        #expect(lines.count(old, at: start) == 1 && lines.count(new, at: start) == 1)
        #expect(lines.count(old, at: start) == nil && lines.count(old, at: start + .milliseconds(999)) == nil)
        #expect(lines.count(old, at: start + .seconds(1)) == 3)
        #expect(lines.count(old, at: start + .seconds(3)) == 1)
        let slow = FailureLines(pause: .seconds(60))
        #expect(slow.count(old, at: start) == 1 && slow.count(old, at: start + .seconds(59)) == nil)
        #expect(slow.count(old, at: start + .seconds(60)) == 2)
    }
}

/// One address has a quarter of the calls of an upstream.
@Suite struct UpstreamSharesTests {
    private let old = CredentialKey(tenant: "t", credential: "old")

    @Test func oneAddressDoesNotTakeAllPlaces() {
        let shares = UpstreamShares()
        #expect(UpstreamShares.limit * 4 == OutgoingLimits().inFlight)
        func place(_ address: String?, _ upstream: CredentialKey) -> HeldPermit? {
            shares.place(of: address, at: upstream, isLimited: true)
        }
        let places = (0..<UpstreamShares.limit).compactMap { _ in place("192.0.2.1", old) }
        #expect(places.count == UpstreamShares.limit && place("192.0.2.1", old) == nil)
        // Another address, another upstream, and an address without limits.
        #expect(place("192.0.2.2", old) != nil)
        #expect(place("192.0.2.1", CredentialKey(tenant: "t", credential: "new")) != nil)
        #expect(shares.place(of: "192.0.2.1", at: old, isLimited: false) != nil)
        // Released once, also if it is released twice.
        places.first?.release()
        places.first?.release()
        let again = place("192.0.2.1", old)
        #expect(again != nil && place("192.0.2.1", old) == nil)
        again?.release()
        for place in places { place.release() }
        #expect(place("192.0.2.1", old) != nil)
    }
}

/// One call per second asks a store that does not answer.
@Suite struct StoreOutageTests {
    // A call that the store refuses must not make it seem to be away.
    @Test func onlyAStoreThatDoesNotAnswerIsAway() {
        let start = ContinuousClock.now
        let codes: [StoreError.Code] = [.conflict, .missing, .outdated, .failed]
        for code in codes {
            let outage = StoreOutage()
            outage.ended(with: StoreError(code, "a test"), at: start)
            #expect(outage.asks(at: start) && outage.asks(at: start), "\(code)")
        }
        for code in [StoreError.Code.unavailable, .timedOut] {
            let outage = StoreOutage()
            outage.ended(with: StoreError(code, "a test"), at: start)
            #expect(!outage.asks(at: start), "\(code)")
        }
    }

    @Test func oneCallPerSecondAsksAStoreThatDoesNotAnswer() {
        let outage = StoreOutage()
        let start = ContinuousClock.now
        #expect(outage.asks(at: start) && outage.asks(at: start))
        outage.failed(at: start)
        #expect(!outage.asks(at: start + .milliseconds(999)))
        #expect(outage.asks(at: start + .seconds(1)))
        #expect(!outage.asks(at: start + .milliseconds(1999)) && outage.asks(at: start + .seconds(2)))
        outage.answered()
        #expect(outage.asks(at: start + .milliseconds(2001)) && outage.asks(at: start + .milliseconds(2001)))
    }
}
