import Coverage
import FoundationEssentials
import Model
import RationalOwl
import Testing

/// The body of a tracking callback, docs/contracts/rationalowl.md#8.6.
struct RationalOwlCallbackTests {
    static func delivery(
        _ address: Address?,
        _ state: DeliveryState,
        message: String = Sample.messageText,
        reason: String? = nil,
        nt: Int64? = nil,
        rt: Int64? = nil,
        isReserved: Bool = false,
        fallback: JSON? = nil
    ) throws -> DeliverySnapshot {
        DeliverySnapshot(
            message: try Sample.message(message),
            target: TargetID(UUID()),
            address: address,
            state: state,
            reason: reason,
            sentAt: Timestamp(milliseconds: 1_731_999_999_123),
            receivedAt: nt.map { Timestamp(milliseconds: $0) },
            readAt: rt.map { Timestamp(milliseconds: $0) },
            isReserved: isReserved,
            fallback: fallback
        )
    }

    static func body(_ deliveries: [DeliverySnapshot]) throws -> JSON {
        let body = try #require(Mount.adapter.trackingCallback(for: deliveries, settings: .unbound))
        #expect(body.contentType == "application/json; charset=utf-8")
        return try JSONParser.parse(body.bytes)
    }

    @Test(
        .covers(
            "rationalowl",
            "tracking callback",
            partial: "the states of the fallback are never reported, because the gateway has no fallback engine"
        )
    ) func phonesAreReportedAsDocumented() throws {
        let deliveries = [
            try Self.delivery(.phone("01022222222"), .read, nt: 1_732_000_000_456, rt: 1_732_000_100_789),
            try Self.delivery(
                .phone("01033333333"),
                .failed,
                reason: "InternalServerError",
                fallback: ["a": ["s": 3, "st": 1_732_000_060_000], "m": ["t": 13, "s": 2, "st": 1_732_000_120_000]]
            ),
            try Self.delivery(
                .phone("01044444444"),
                .suppressed,
                reason: "noDevice",
                fallback: ["m": ["t": 12, "s": 1, "st": 1_731_999_999_500]]
            ),
        ]
        #expect(try Self.body(deliveries) == (try Fixture.json("callback/phones.json")))
    }

    @Test func devicesAreReportedAsDocumented() throws {
        let delivery = try Self.delivery(
            .deviceKey("d0d1d2d3d4d5d6d7d8d9dadbdcdddedf"),
            .received,
            message: "7a1d5a3f-2f0b-4f0e-8f60-0f2a0b8d9e22",
            nt: 1_732_000_000_456
        )
        #expect(try Self.body([delivery]) == (try Fixture.json("callback/device.json")))
    }

    /// docs/contracts/rationalowl.md#16.8: changes of several messages are one array, each message once, targets in order.
    @Test func changesOfOneMessageAreOneEntry() throws {
        let other = "7a1d5a3f-2f0b-4f0e-8f60-0f2a0b8d9e22"
        let body = try Self.body([
            try Self.delivery(.phone("01011111111"), .sent),
            try Self.delivery(.phone("01022222222"), .sent, message: other),
            try Self.delivery(.phone("01011111111"), .received, nt: 5),
        ])
        #expect(body.array?.count == 2)
        #expect(body.array?.first?["ds"]?.array?.map { $0["p"]?["s"]?.int } == [2, 3])
        #expect(body.array?.last?["mId"]?.string == other)
    }

    /// docs/contracts/rationalowl.md#8.6 and docs/contracts/rationalowl.md#10: the states of the contract, and the
    /// assumed ones.
    @Test(arguments: [
        (DeliveryState.queued, nil, true, false, 1), (.queued, nil, false, false, 2), (.sent, nil, false, false, 2),
        (.received, nil, false, true, 3), (.read, nil, false, true, 4), (.sent, nil, false, true, 5),
        (.suppressed, "noDevice", false, true, 6), (.failed, "Unregistered", false, true, 6),
        (.failed, "BadDeviceToken", false, false, 6), (.failed, "InternalServerError", false, false, 2),
        (.suppressed, "preference", false, false, 2), (.expired, nil, false, false, 2), (.expired, nil, false, true, 5),
    ])
    func stateIsOneOfTheSix(
        state: DeliveryState,
        reason: String?,
        isReserved: Bool,
        isFallbackUsed: Bool,
        expected: Int
    ) throws {
        let delivery = try Self.delivery(.phone("01011111111"), state, reason: reason, isReserved: isReserved)
        #expect(PushState(delivery, isFallbackUsed: isFallbackUsed).rawValue == expected)
    }

    /// A sender knows targets by phone or device id; other data of the gateway is not sent.
    @Test func deliveriesWithoutASendersAddressAreLeftOut() throws {
        let deliveries = [try Self.delivery(nil, .sent), try Self.delivery(.user("kim"), .sent)]
        #expect(Mount.adapter.trackingCallback(for: deliveries, settings: .unbound) == nil)
        #expect(Mount.adapter.trackingCallback(for: [], settings: .unbound) == nil)
    }
}
