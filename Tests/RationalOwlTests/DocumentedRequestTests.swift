import Model
import RationalOwl
import Testing

/// Every request of docs/contracts/rationalowl.md#5 to 8 and docs/contracts/rationalowl.md#11.1 becomes its documented command. The commands are
/// written by hand from the contract's tables.
struct DocumentedRequestTests {
    static let commands: [String: Command] = [
        // docs/contracts/rationalowl.md#5.1
        "installApp/vendor-document.request.json": .registration(
            .register(
                DeviceRegistration(
                    key: "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf",
                    platform: .ios,
                    user: "gildong",
                    name: "홍길동",
                    phone: "01022221111",
                    rawPhone: "01022221111",
                    replacesSamePhone: true
                )
            )
        ),
        "installApp/minimal-2025.request.json": .registration(
            .register(DeviceRegistration(key: "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf", platform: .ios))
        ),
        // docs/contracts/rationalowl.md#5.2
        "unregUser/device.request.json": .registration(.unregister(.key("d0d1d2d3d4d5d6d7d8d9dadbdcdddedf"))),
        "unregUser/phone.request.json": .registration(.unregister(.phone("01022221111"))),
        // docs/contracts/rationalowl.md#5.3, docs/contracts/rationalowl.md#5.4
        "reqAuthNumber/phone.request.json": .registration(
            .requestVerification(phone: "01022221111", countryCode: "82")
        ),
        "verifyAuthNumber/code.request.json": .registration(
            .verify(phone: "01022221111", code: "1111", platform: .ios)
        ),
        // docs/contracts/rationalowl.md#5.5
        "notiRead/vendor-document.request.json": .receipt(
            .report(
                .read,
                message: "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11",
                reporter: Reporter(key: "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf", phone: "01022221111"),
                at: nil
            )
        ),
        "notiRead/current.request.json": .receipt(
            .report(
                .read,
                message: "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11",
                reporter: Reporter(key: "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf"),
                at: nil
            )
        ),
        // docs/contracts/rationalowl.md#5.6
        "msgInfo/vendor-document.request.json": .inbox(
            .deliveryInfo(
                message: "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11",
                reporter: Reporter(key: "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf", phone: "01022221111")
            )
        ),
        "msgInfo/current.request.json": .inbox(
            .deliveryInfo(
                message: "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11",
                reporter: Reporter(key: "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf")
            )
        ),
        // docs/contracts/rationalowl.md#5.7
        "imgData/image.request.json": .media(
            .fetch(message: "3f0c2c1e-0a55-4f6e-9a3c-5d2b9a1e7c11", media: "9d5a0c7be1f74d0c8f0d3f6b1a2c4e5d")
        ),
        // docs/contracts/rationalowl.md#7.4
        "deviceRegister/device.request.json": .registration(.register(shimRegistration)),
        // docs/contracts/rationalowl.md#8.1, docs/contracts/rationalowl.md#8.2
        "serverRegister/server.request.json": .sender(.register(name: "shop backend 1")),
        "clientRegister/client.request.json": .sender(
            .enrol("SVR11111111-2222-4333-8444-555555555555", name: "shop backend 1", address: "203.0.113.10")
        ),
        // docs/contracts/rationalowl.md#8.3, docs/contracts/rationalowl.md#8.4
        "sendByPhoneNumber/simple.request.json": .submission(
            .submit(
                Submission(
                    sender: "SVR11111111-2222-4333-8444-555555555555",
                    content: Content(title: "공지", body: "공지사항입니다~"),
                    audience: .listed([
                        Addressee(.phone("01011111111")), Addressee(.phone("01022222222"), name: "홍길동"),
                    ]),
                    timing: SubmissionTiming(timeToLive: .seconds(72 * 3600))
                )
            )
        ),
        "sendByPhoneNumber/everything.request.json": .submission(
            .submit(
                Submission(
                    sender: "SVR11111111-2222-4333-8444-555555555555",
                    content: Content(title: "배송"),
                    template: TemplateReference(
                        id: "77777777-8888-4999-8aaa-bbbbbbbbbbbb",
                        arguments: ["고객명": "홍길동", "배송시간": "13시"]
                    ),
                    audience: .listed([Addressee(.phone("01022222222"), name: "홍길동")]),
                    // 2026-12-25 13:30:00 in Seoul is 04:30:00 UTC.
                    timing: SubmissionTiming(dueAt: Timestamp(seconds: 1_798_173_000), timeToLive: .seconds(72 * 3600)),
                    lane: .transactional,
                    image: InlineImage(
                        name: "box.jpg",
                        // /9j/ 4AAQ SkZJ RgAB AQEA YABg AAD/ 2wBD AAMC AgMC
                        bytes: [
                            0xFF, 0xD8, 0xFF, 0xE0, 0x00, 0x10, 0x4A, 0x46, 0x49, 0x46, 0x00, 0x01, 0x01, 0x01, 0x00,
                            0x60,
                            0x00, 0x60, 0x00, 0x00, 0xFF, 0xDB, 0x00, 0x43, 0x00, 0x03, 0x02, 0x02, 0x03, 0x02,
                        ],
                        statedSize: 23443
                    ),
                    fallback: ["s": 2, "t": 11, "sp": "0212345678", "atId": "ATPL-0001", "kcId": "KCH-0001", "atm": 2]
                )
            )
        ),
        "sendByPhoneNumber/everyone.request.json": .submission(
            .submit(
                Submission(
                    sender: "SVR11111111-2222-4333-8444-555555555555",
                    content: Content(body: "점검 안내"),
                    audience: .everyone,
                    timing: SubmissionTiming(timeToLive: .seconds(72 * 3600)),
                    fallback: ["s": 2, "t": 12, "sp": "0212345678"]
                )
            )
        ),
        "sendByDeviceID/devices.request.json": .submission(
            .submit(
                Submission(
                    sender: "SVR11111111-2222-4333-8444-555555555555",
                    content: Content(title: "공지", body: "공지사항입니다~"),
                    audience: .listed([
                        Addressee(.deviceKey("d0d1d2d3d4d5d6d7d8d9dadbdcdddedf")),
                        Addressee(.deviceKey("d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1d1"), name: "홍길동"),
                    ]),
                    timing: SubmissionTiming(timeToLive: .seconds(72 * 3600))
                )
            )
        ),
        // docs/contracts/rationalowl.md#8.5
        "setCallbackURL/set.request.json": .sender(
            .setCallback("SVR11111111-2222-4333-8444-555555555555", url: "https://shop.example.com/ums/callback")
        ),
    ]

    @Test(arguments: commands.keys.sorted())
    func documentedRequestBecomesItsCommand(fixture: String) throws {
        let request = try Mount.documented(fixture)
        let decoded = try Mount.adapter.decode(request, settings: Self.byPhone)
        #expect(decoded == [try #require(Self.commands[fixture])])
    }

    private static let byPhone = BindingSettings(values: ["unregisterByPhone": true])

    /// docs/contracts/rationalowl.md#5.2: a phone number is known to others. The app gets the success that makes it delete its own data.
    @Test func aPhoneAloneUnregistersNothing() throws {
        let request = try Mount.documented("unregUser/phone.request.json")
        #expect(try Mount.adapter.decode(request, settings: .unbound) == [])
        let silent = Mount.adapter.encode([], for: request, settings: .unbound)
        let known = Mount.adapter.encode([.registration(.unregistered(2))], for: request, settings: .unbound)
        #expect(silent == known)
        #expect(try JSONParser.parse(silent.body)["rc"] == 1)
        let unnamed = Mount.request("/pushApp/unregUser", body: Array(#"{"aId":"A"}"#.utf8))
        #expect(throws: AdapterError(.missing, field: "dRId")) {
            try Mount.adapter.decode(unnamed, settings: .unbound)
        }
    }

    /// docs/contracts/rationalowl.md#1: `aId` names the account; `serviceId` and `sId` the service.
    @Test(arguments: commands.keys.sorted())
    func documentedRequestIsLocatedByItsAccountOrService(fixture: String) throws {
        let request = try Mount.documented(fixture, headers: ["Host": "Push.Example.com:36001"])
        let (key, caller) = try Mount.adapter.locate(request)
        let isService = fixture.hasPrefix("serverRegister") || fixture.hasPrefix("deviceRegister")
        #expect(key.kind == (isService ? "service" : "account"))
        #expect(key.value == (isService ? Sample.service : Sample.account))
        #expect(key.vendor == .rationalOwl)
        #expect(key.host == "push.example.com")
        let isOfABackEnd = ["server", "client", "send", "setCallback"].contains(where: fixture.hasPrefix)
        #expect(caller == (isOfABackEnd ? .sender : .device))
    }

    /// The same token is the same device.
    private static var shimRegistration: DeviceRegistration {
        var registration = DeviceRegistration(
            key: nil,
            platform: .ios,
            environment: .sandbox,
            token: DeviceToken(apns: "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"),
            name: "홍길동",
            attributes: keyed(["bundleId": "com.example.umsdemo", "model": "iPhone15,2", "osVer": "18.1"])
        )
        registration.derivesKey = true
        registration.client = ClientFacts([.osVersion: "18.1", .model: "iPhone15,2"])
        return registration
    }

    /// I11: no documented request without an expected command.
    @Test func everyMappedRequestHasAnExpectedCommand() throws {
        let requests = try Fixture.mappedFiles().filter { $0.hasSuffix(".request.json") }
        #expect(requests == Set(Self.commands.keys))
        #expect(requests.count == 19)
    }
}
