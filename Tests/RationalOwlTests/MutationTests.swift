import Foundation
import HTTPTypes
import Model
import RationalOwl
import TestKit
import Testing

/// I5 and I11 for the adapter alone: 10,000 mutations of each documented request, half of them with correct types, cause no trap and get an
/// allowed status and the call's own shape.
///
/// The seed is printed; `GATEWAY_FUZZ_SEED` repeats a run, `GATEWAY_FUZZ_COUNT` changes its length.
struct MutationTests {
    @Test(arguments: DocumentedRequestTests.commands.keys.sorted())
    func mutatedRequestsGetTheCallsOwnShape(fixture: String) throws {
        let documented = try Mount.documented(fixture)
        let object = try #require(try JSONParser.parse(documented.body).object)
        let shape = Shape(endpoint: documented.route)
        // Each request has its own sequence, so that one can be repeated alone.
        var mutator = Mutator(
            seed: Fuzz.seed ^ UInt64(truncatingIfNeeded: fixture.utf8.reduce(5381) { $0 &* 33 &+ Int($1) })
        )
        var reached = 0
        for index in 0..<Fuzz.count {
            var request = documented
            request.body = index.isMultiple(of: 2) ? mutator.typeCorrect(.object(object)) : mutator.raw(documented.body)
            if index % 5 == 0 { request.headers[.userAgent] = "okhttp/4.9.1" }
            if index % 7 == 0 { request.headers[.contentType] = "application/x-www-form-urlencoded" }
            let (response, isCommand) = Self.call(request, &mutator.random)
            if isCommand { reached += 1 }
            if let fault = shape.fault(response) {
                let body = String(decoding: request.body, as: UTF8.self)
                Issue.record("seed \(Fuzz.seed), \(fixture), mutation \(index): \(fault) in answer to \(body)")
                return
            }
        }
        print("mutations of \(fixture): seed \(Fuzz.seed), \(reached) of \(Fuzz.count) became commands")
        #expect(reached * 5 >= Fuzz.count, "at least a fifth must reach the commands; a third is usual")
    }

    private static func call(_ request: VendorRequest, _ random: inout SplitMix) -> (VendorResponse, Bool) {
        do throws(AdapterError) {
            _ = try Mount.adapter.locate(request)
            let commands = try Mount.adapter.decode(request, settings: .unbound)
            let replies = commands.map { reply(to: $0, &random) }
            return (Mount.adapter.encode(replies, for: request, settings: .unbound), true)
        } catch {
            return (Mount.adapter.refuse(error, for: request, settings: .unbound), false)
        }
    }

    /// A possible reply of `Commands`: the command's own reply, or any refusal.
    private static func reply(to command: Command, _ random: inout SplitMix) -> Reply {
        if Int.random(in: 0..<3, using: &random) == 0, let refusal = refusals.randomElement(using: &random) {
            return .refused(refusal)
        }
        switch command {
        case .registration(let command): return .registration(registration(command, &random))
        case .preference: return .preference(.preferencesSet)
        case .group: return .group(.deleted)
        case .sender(.register), .sender(.adopt): return .sender(.registered("SVR"))
        case .sender(.enrol): return .sender(.enrolled(key: "c0", isNew: Bool.random(using: &random)))
        case .sender(.setCallback): return .sender(.callbackSet)
        case .campaign: return .refused(.unsupported("campaign"))
        case .receipt: return .receipt([.recorded, .repeated, .orphan].randomElement(using: &random) ?? .orphan)
        case .inbox(.deliveryInfo):
            return DocumentedReplyTests.info(
                Bool.random(using: &random) ? DocumentedReplyTests.alimtalkThenText : nil,
                [.ios, .android, nil].randomElement(using: &random) ?? nil
            )
        case .inbox: return .inbox(.undelivered([]))
        case .submission: return .submission(.accepted(MessageID(UUID()), recipients: nil))
        case .media: return .media(.bytes([1, 2, 3], contentType: "image/png"))
        case .badge: return .refused(.unsupported("badge"))
        case .user: return .refused(.unsupported("user"))
        }
    }

    private static func registration(
        _ command: RegistrationCommand,
        _ random: inout SplitMix
    ) -> RegistrationReply {
        switch command {
        case .register:
            var device = DocumentedReplyTests.device
            device.wasActive = Bool.random(using: &random)
            return .registered(device)
        case .updateToken: return .tokenUpdated
        case .unregister: return .unregistered(0)
        case .requestVerification: return .verificationSent
        case .verify: return .verified(Bool.random(using: &random), platform: nil)
        case .enlist, .assign, .standing, .drawKey, .listed, .activity: return .standing(nil)
        }
    }

    static let refusals: [Refusal] = [
        .unknownBinding, .unauthorized, .unknownDevice, .unknownMessage, .unknownMedia, .unknownSender,
        .unknownGroup("g"), .unknownTemplate,
        .noCredential, .invalid("dueAt"), .invalid("callback"), .tooMany("audience", limit: 1),
        .rateLimited(retryAfter: .seconds(2)), .idempotencyMismatch, .unsupported("x"), .unavailable(retryAfter: nil),
    ]
}
