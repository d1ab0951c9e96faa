import Foundation
import HTTPTypes
import Model
import TestKit
import Testing

@testable import UPMC

/// I5 and I11 for the adapter alone: 10,000 mutations of each documented request, half of them still forms, cause no trap and get status 200 and the
/// call's own shape.
///
/// The seed is printed; `GATEWAY_FUZZ_SEED` repeats a run, `GATEWAY_FUZZ_COUNT` changes its length.
struct MutationTests {
    private static let device = "APP_ID=com.example.app&PNSID=APNS&DEVICE_ID=6F0A&PSID=\(Fixture.token)&CUID=hong"
    private static let sending =
        "APP_ID=com.example.app&CUID=[\"hong\",\"kim\"]&MESSAGE={\"title\":\"t\",\"body\":\"%CNAME%\"}"

    /// One documented form of each call.
    static let forms: [UPMCCall: String] = Dictionary(
        uniqueKeysWithValues: UPMCCall.allCases.filter { !$0.isMarketing }.map { endpoint in
            switch endpoint {
            case .send, .sendToGroup, .sendToList:
                let type = endpoint == .send ? "E" : endpoint == .sendToGroup ? "G" : "C"
                return (
                    endpoint,
                    sending + "&TYPE=\(type)&GROUPSEQ=12&BADGENO=1&RESERVEDATE=20160415 000000&EXT=x&TEMPLATE_YN=Y"
                        + "&SPLIT_MSG_CNT=10&DELAY_SECOND=1&SENDERCODE=admin&SERVICECODE=ALL&PRIORITY=1"
                )
            default: return (endpoint, device + "&SEQNO=104&BADGENO=3&GROUPSEQ=12&GROUPNAME=g&CNAME=Hong&OS_VER=17")
            }
        }
    )

    @Test(arguments: forms.keys.sorted { $0.rawValue < $1.rawValue })
    func mutatedRequestsGetTheCallsOwnShape(_ endpoint: UPMCCall) throws {
        let form = try #require(Self.forms[endpoint])
        let pairs = form.split(separator: "&").map { pair -> (String, JSON) in
            let halves = pair.split(separator: "=", maxSplits: 1)
            return (String(halves[0]), .string(halves.count > 1 ? String(halves[1]) : ""))
        }
        let object = JSONObject(pairs)
        var mutator = Mutator(
            seed: Fuzz.seed ^ UInt64(truncatingIfNeeded: endpoint.rawValue.utf8.reduce(5381) { $0 &* 33 &+ Int($1) }),
            known: ["GUEST", "A", "G", "UPNS", "WPNS", "-1", "1001", "20160414 172200", "%VAR1%", "[a,b]", "{}"]
        )
        var reached = 0
        for index in 0..<Fuzz.count {
            let request = Self.request(endpoint, object, Array(form.utf8), index, &mutator)
            let settings = Mount.settings(
                UPMCVersion.allCases[index % UPMCVersion.allCases.count].rawValue,
                index % 3 == 0 ? ["publicUrl": "https://push.example.com"] : [:]
            )
            let (response, isCommand) = Self.call(request, settings, &mutator.random)
            if isCommand { reached += 1 }
            if let fault = Self.fault(response, endpoint) {
                let body = String(decoding: request.body, as: UTF8.self)
                Issue.record("seed \(Fuzz.seed), \(endpoint), mutation \(index): \(fault) in answer to \(body)")
                return
            }
        }
        print("mutations of \(endpoint.rawValue): seed \(Fuzz.seed), \(reached) of \(Fuzz.count) became commands")
        if ![.encryptionKey, .reallocateBroker].contains(endpoint) {
            #expect(reached * 10 >= Fuzz.count * 3, "at least 30 % must reach the commands")
        }
    }

    static func request(
        _ endpoint: UPMCCall,
        _ object: JSONObject,
        _ form: [UInt8],
        _ index: Int,
        _ mutator: inout Mutator
    ) -> VendorRequest {
        guard index.isMultiple(of: 2) else {
            var request = Mount.request("/upmc/\(endpoint.rawValue).ctl", "")
            request.body = mutator.raw(form)
            return request
        }
        let mutated = (try? JSONParser.parse(mutator.typeCorrect(.object(object))))?.object ?? object
        let pairs = mutated.pairs.map { ($0.key, $0.value.lenientString ?? JSONWriter.text($0.value)) }
        guard endpoint == .sendToList || index % 6 == 0 else {
            let body = pairs.map { PercentCoding.encode($0.0) + "=" + PercentCoding.encode($0.1) }.joined(
                separator: "&"
            )
            return Mount.request("/upmc/\(endpoint.rawValue).ctl", body)
        }
        var body = pairs.map { "--B\r\nContent-Disposition: form-data; name=\"\($0.0)\"\r\n\r\n\($0.1)\r\n" }.joined()
        let list = Array("hong,Hong,v\r\nkim,Kim,w\r\n".utf8)
        let file = index % 4 == 0 ? mutator.raw(list) : list
        body += "--B\r\nContent-Disposition: form-data; name=\"upload_file\"; filename=\"l.csv\"\r\n\r\n"
        var request = Mount.request(
            "/upmc/\(endpoint.rawValue).ctl",
            body,
            contentType: "multipart/form-data; boundary=B"
        )
        request.body += file + Array("\r\n--B--\r\n".utf8)
        return request
    }

    private static func call(_ request: VendorRequest, _ settings: BindingSettings, _ random: inout SplitMix)
        -> (VendorResponse, Bool)
    {
        do throws(AdapterError) {
            _ = try Mount.adapter.locate(request)
            let commands = try Mount.adapter.decode(request, settings: settings)
            for case .submission(.submit(let submission)) in commands { try write(submission, settings) }
            let replies = commands.map { reply(to: $0, &random) }
            return (Mount.adapter.encode(replies, for: request, settings: settings), true)
        } catch {
            return (Mount.adapter.refuse(error, for: request, settings: settings), false)
        }
    }

    /// Every accepted submission can be encoded, or is too large.
    private static func write(_ submission: Submission, _ settings: BindingSettings) throws(AdapterError) {
        let notification = Model.Notification(
            message: MessageID(UUID()),
            origin: .upmc,
            content: submission.content,
            sentAt: Mount.now,
            numbers: [.upmc: "1"]
        )
        var target = TargetFacts(
            target: TargetID(UUID()),
            identity: IdentityID(UUID()),
            device: nil,
            app: "shop",
            vendor: .upmc,
            key: "APNS:1",
            person: TargetPerson(user: "hong"),
            destination: PushDestination(
                platform: .ios,
                environment: .production,
                token: DeviceToken(stored: Fixture.token),
                tokenState: .active
            )
        )
        target.variables = submission.numbering?.variables.first?.values ?? [:]
        do {
            _ = try Mount.adapter.payload(for: notification, to: target, settings: settings)
        } catch {
            guard error.code == .tooLarge else { throw error }
        }
    }

    /// A possible reply of `Commands`: the command's own reply, or any refusal.
    private static func reply(to command: Command, _ random: inout SplitMix) -> Reply {
        if Int.random(in: 0..<3, using: &random) == 0, let refusal = refusals.randomElement(using: &random) {
            return .refused(refusal)
        }
        let user = AssignedUser(user: "hong", hasMoved: Bool.random(using: &random))
        switch command {
        case .registration(.enlist): return .registration(.enlisted(Mount.registered, user))
        case .registration(.assign): return .registration(.assigned(user))
        case .registration(.standing): return .registration(.standing(nil))
        case .registration: return .registration(.unregistered(0))
        case .group(.create(let title)):
            return .group(.created(TitledGroup(name: "1", title: title)))
        case .group(.list): return .group(.listed([]))
        case .group(.members): return .group(.members([]))
        case .group(.delete): return .group(.deleted)
        case .group: return .group(.membersChanged(added: 1, removed: 0))
        case .receipt: return .receipt(.acknowledged(isKnown: Bool.random(using: &random), badge: 3))
        case .inbox(.history): return .inbox(.history([ConformanceTests.entry]))
        case .inbox(.userMessage): return .inbox(.message(ConformanceTests.entry))
        case .inbox(.unread): return .inbox(.unread(3))
        case .inbox: return .inbox(.undelivered([]))
        case .submission:
            return .submission(
                .numbered(
                    NumberedAcceptance(message: MessageID(UUID()), number: "7", targetCount: 1, keys: ["APNS:1"])
                )
            )
        case .user: return .refused(.unsupported("user"))
        case .media: return .refused(.unknownMedia)
        case .badge: return .badge(.count(3))
        case .preference, .sender, .campaign: return .refused(.unsupported("command"))
        }
    }

    private static let refusals: [Refusal] = [
        .unknownBinding, .unauthorized, .unknownDevice, .unknownMessage, .unknownGroup("g"), .noRecipients,
        .noCredential,
        .invalid("dueAt"), .tooMany("audience", limit: 1), .rateLimited(retryAfter: nil), .unavailable(retryAfter: nil),
    ]

    /// The fault of an answer's shape; nil: no fault.
    static func fault(_ response: VendorResponse, _ endpoint: UPMCCall) -> String? {
        guard response.status == 200 else { return "status \(response.status)" }
        guard let json = try? JSONParser.parse(response.body) else { return "no JSON" }
        guard json.object?.keys.sorted() == ["BODY", "HEADER"] else { return "keys \(json.object?.keys ?? [])" }
        guard let header = json["HEADER"]?.object, let code = header["RESULT_CODE"]?.string,
            header["RESULT_BODY"]?.string != nil
        else { return "no header" }
        guard Set(header.keys).isSubset(of: ["RESULT_CODE", "RESULT_BODY", "SERVICE"]) else { return "header's keys" }
        guard ["0000", "500", "4400", "4401", "4404", "5500", "40000", "40100", "40300"].contains(code) else {
            return "code \(code)"
        }
        guard let body = json["BODY"] else { return "no body" }
        if endpoint.isSend {
            return body.object.map { $0.pairs.allSatisfy { isScalar($0.value) } } == true ? nil : "body"
        }
        guard let list = body.array else { return "body is not an array" }
        let isRight = list.allSatisfy { $0.object?.pairs.allSatisfy { $0.value.string != nil } ?? false }
        return isRight ? nil : "body's elements"
    }

    /// A string, or the single list.
    private static func isScalar(_ value: JSON) -> Bool {
        value.string != nil || (value.array?.allSatisfy { $0.string != nil } ?? false)
    }
}
