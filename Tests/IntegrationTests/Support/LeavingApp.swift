import CommandSupport
import Foundation
import Model
import Testing

@testable import Gateway

/// The calls of an app of RationalOwl and of its back end, at the gateway.
struct LeavingApp: Sendable {
    let http: HTTPCaller
    let account: String
    let service: String

    struct Device: Sendable {
        let key: String
        let token: String
        let phone: String

        init(_ index: Int) {
            key = String(format: "%032x", index + 1)
            token = String(format: "%064x", index + 0xA000)
            phone = String(format: "0105%07d", index)
        }
    }

    /// More than 200 on either side of a rollout of 50 %, with a margin of seven standard deviations.
    static let devices = (0..<560).map { Device($0) }

    private func post(_ path: String, _ body: JSON) async throws -> HTTPCaller.Answer {
        let answer = try await http.call("POST", path, body)
        try #require(answer.status == 200, "\(path): \(answer.status) \(answer.text)")
        return answer
    }

    /// Registers a device, and returns the answer.
    @discardableResult
    func install(_ device: Device) async throws -> JSON? {
        let answer = try await post(
            "/pushApp/installApp",
            [
                "cId": 303, "sId": .string(service), "aId": .string(account), "dt": 2, "dRId": .string(device.key),
                "pn": .string(device.phone), "n": "홍길동", "tk": .string(device.token), "env": "prod",
            ]
        )
        let code = answer.json?["rc"]?.int
        try #require(code == 1 || code == -102, "\(answer.text)")
        return answer.json
    }

    /// Registers a back end, and returns its id.
    func register() async throws -> String {
        let server = try await post(
            "/server/register/",
            ["serviceId": .string(service), "registerName": "shop", "privateNetwork": 1]
        )
        let sender = try #require(server.json?["serverRegId"]?.string, "\(server.text)")
        let client = try await post(
            "/msgClient/register",
            [
                "cId": 1, "r": 1, "t": 12, "sId": .string(service), "mcn": "shop", "rId": .string(sender),
                "aId": .string(account), "ip": "203.0.113.10",
            ]
        )
        try #require(client.json?["srId"]?.string != nil, "\(client.text)")
        return sender
    }

    /// Sends to one device, and returns the name of the message.
    func send(to device: Device, from sender: String, _ text: String) async throws -> String {
        let answer = try await post(
            "/msgClient/msgClientSendMsgByDeviceId",
            [
                "rId": .string(sender), "aId": .string(account), "ip": "203.0.113.10",
                "msg": ["title": "공지", "body": .string(text)],
                "dest": ["t": 2, "tg": [["dId": .string(device.key)]]],
            ]
        )
        return try #require(answer.json?["mId"]?.string, "\(answer.text)")
    }

    /// Reads a message that neither side knows, as after a send of a back end that was forgotten.
    func readUnknown(on device: Device) async throws {
        let message = SystemIdentifiers().randomHex(byteCount: 16)
        _ = try await http.call("POST", Self.readPath, readBody(message, device))
    }

    func read(_ message: String, on device: Device) async throws {
        _ = try await post(Self.readPath, readBody(message, device))
    }

    private static let readPath = "/pushApp/notiRead"

    private func readBody(_ message: String, _ device: Device) -> JSON {
        [
            "cId": 311, "r": 1, "aId": .string(account), "dRId": .string(device.key), "pn": .string(device.phone),
            "mId": .string(message),
        ]
    }

    /// Runs `body` for devices, 16 at a time.
    static func each<Value: Sendable>(
        _ count: Int = LeavingApp.devices.count,
        _ body: @escaping @Sendable (Device) async throws -> Value
    ) async throws -> [(device: Device, value: Value)] {
        let values = try await concurrently(count, tasks: 16) { try await body(devices[$0]) }
        return zip(devices, values).map { (device: $0, value: $1) }
    }
}
