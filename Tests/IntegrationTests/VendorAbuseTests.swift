import AsyncHTTPClient
import Foundation
import IPNS
import Model
import NIOCore
import NIOHTTP1
import TestKit
import Testing

@testable import CommandSupport
@testable import UPMC

/// I5 over real HTTP for UPMC and iPNS: 200 mutations of each call, half of them with correct types, get the vendor's own shape and never a 5xx,
/// and the gateway serves afterwards.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct VendorAbuseTests {
    static let perRequest = 200

    /// One call of a dialect, and a check that returns the fault of an answer to it; nil: no fault.
    private struct Call: Sendable {
        var path: String
        var contentType: String
        var document: JSON
        var fault: @Sendable (Int, JSON?) -> String?
    }

    @Test func abusedDialectsKeepTheirShape() async throws {
        try await World.with { world in
            try await world.applyUPMC()
            let file = try String(contentsOfFile: world.material.path("tenants.yaml"), encoding: .utf8)
            try (file + "\n          ipns: { appId: hr.mobile }\n").write(
                toFile: world.material.path("tenants.yaml"),
                atomically: true,
                encoding: .utf8
            )
            let applied = try await world.apply("tenants.yaml", environment: ["UPMC_SECRET": "a secret of sixteen"])
            try #require(applied.status == 0, "\(applied.log)")
            try await eventually("the iPNS binding is served") {
                let asked: JSON = ["APP_ID": "hr.mobile", "DEVICE_ID": "nobody"]
                return try await world.http.call("POST", "/ipns/getConfig", asked).json?["RT"] == "2003"
            }
            try await abuse(world, Self.upmc + Self.ipns)
            let health = try await HTTPCaller(base: "http://" + world.adminAddress).closing {
                try await $0.call("GET", "/readyz")
            }
            #expect(health.status == 200, "\(health.text)")
        }
    }

    private func abuse(_ world: World, _ calls: [Call]) async throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("HTTP mutation seed: \(seed)")
        let base = world.http.base
        // Three calls at a time: a caller and the gateway wait for each other.
        try await concurrently(calls.count, tasks: 3) { index in
            try await Self.abuse(base, calls[index], seed: seed, seed &+ UInt64(index))
        }
    }

    /// Sends the mutations of one call. `seed` is that of the run, and `own` that of the call.
    private static func abuse(_ base: String, _ call: Call, seed: UInt64, _ own: UInt64) async throws {
        var mutator = Mutator(seed: own, known: ["com.example.upmc", "hr.mobile", "GUEST", "1"])
        var understood = 0
        for number in 0..<perRequest {
            let body = Self.body(call, number, &mutator)
            var request = HTTPClientRequest(url: base + call.path)
            request.method = .POST
            request.headers.add(name: "content-type", value: call.contentType)
            request.body = .bytes(ByteBuffer(bytes: body))
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
            let bytes = Array(try await response.body.collect(upTo: 1 << 20).readableBytesView)
            let status = Int(response.status.code)
            if status == 200 { understood += 1 }
            if let fault = call.fault(status, try? JSONParser.parse(bytes)) {
                Issue.record(
                    """
                    seed \(seed), \(call.path), mutation \(number): \(fault): \(status) \
                    \(String(decoding: bytes.prefix(200), as: UTF8.self)) for \(String(decoding: body.prefix(300), as: UTF8.self))
                    """
                )
                return
            }
        }
        #expect(understood > 0, "\(call.path) was never understood")
    }

    /// The body for a mutation. Even numbers keep the form of their kind.
    private static func body(_ call: Call, _ number: Int, _ mutator: inout Mutator) -> [UInt8] {
        guard call.contentType != "application/json" else { return mutator.body(number, from: call.document) }
        guard number.isMultiple(of: 2) else { return mutator.raw(form(call.document)) }
        return form((try? JSONParser.parse(mutator.typeCorrect(call.document))) ?? call.document)
    }

    private static func form(_ document: JSON) -> [UInt8] {
        let pairs = document.object?.pairs ?? []
        return Array(
            pairs.map { UPMCCaller.encode($0.key) + "=" + UPMCCaller.encode($0.value.lenientString ?? "") }
                .joined(separator: "&").utf8
        )
    }

    // MARK: The calls

    private static let token = String(repeating: "ab", count: 32)

    /// Every call of the catalog, with the parameters of all calls. Source: docs/contracts/upmc.md#1.6,
    /// docs/contracts/upmc.md#1.8.
    private static let upmc = UPMC.UPMCCall.allCases.map { endpoint -> Call in
        if endpoint.isMarketing {
            return Call(
                path: endpoint.path,
                contentType: "application/json",
                document: ["appId": "com.example.upmc", "cuid": "hong", "productId": "p", "price": 1],
                fault: { status, _ in status < 500 ? nil : "a server error" }
            )
        }
        let kind: [String: String] = ["rcv_register_message": "E", "rcv_register_groupmessage": "G"]
        return Call(
            path: "/upmc" + endpoint.path,
            contentType: "application/x-www-form-urlencoded",
            document: [
                "APP_ID": "com.example.upmc", "PNSID": "APNS", "DEVICE_ID": "6F0A", "PSID": .string(token),
                "CUID": endpoint.isSend ? "[\"hong\",\"kim\"]" : "hong", "CNAME": "Hong", "SEQNO": "104",
                "BADGENO": "1",
                "GROUPSEQ": "12", "GROUPNAME": "g", "TYPE": .string(kind[endpoint.rawValue] ?? "C"),
                "MESSAGE": "{\"title\":\"t\",\"body\":\"%CNAME%\"}", "SENDERCODE": "admin", "SERVICECODE": "ALL",
                "PRIORITY": "1", "DELAY_SECOND": "0", "COUNT": "20",
            ],
            fault: { status, json in
                guard status < 500 else { return "a server error" }
                let isShaped = json?["HEADER"]?["RESULT_CODE"]?.string != nil && json?["BODY"] != nil
                return isShaped ? nil : "not the vendor's shape"
            }
        )
    }

    /// Every operation, with the fields of all operations. Source: docs/contracts/ipns.md#2.5 to
    /// docs/contracts/ipns.md#2.11.
    private static let ipns = IPNS.IPNSCall.allCases.map { operation in
        Call(
            path: "\(IPNS.IPNSCall.mount)/\(operation.rawValue)",
            contentType: "application/json",
            document: [
                "APP_ID": "hr.mobile", "DEVICE_ID": "d-1", "PUSH_TOKEN": .string(token), "USER_CN": "hong",
                "PUSH_TYPE": "ios", "PUSH_YN": "Y", "MSG_ID": "104", "REQ_ID": "104", "START_TIME": "0900",
                "END_TIME": "2100", "CP_USER_ID": "cp", "PUSH_ID_TYPE": "@00", "REQ_TYPE": "N", "COUNT": 20,
                "PUSH_ID": ["hong"], "TITLE": "t", "ALERT": "a", "MESSAGE": "m", "BADGE": 1,
            ],
            fault: { status, json in
                guard status < 500 else { return "a server error" }
                return json?["RT"]?.string != nil && json?["RT_MSG"]?.string != nil ? nil : "not the vendor's shape"
            }
        )
    }
}
