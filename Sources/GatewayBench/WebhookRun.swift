import CommandSupport
import Foundation
import Gateway
import Model

/// How a webhook of one order caught up.
struct WebhookSample {
    var order: String
    var events: Int
    var calls: Int
    var seconds: Double
    /// Per event.
    var gatewayMicroseconds: Double
    var postgresMicroseconds: Double

    var rate: Double { Double(events) / seconds }
}

/// The rates of a message to all devices, in deliveries per second.
struct CampaignSample: Sendable {
    /// The median of the runs alone.
    var alone: Double
    /// While a webhook in the order of devices catches up.
    var during: Double

    var ratio: Double { during / max(alone, 1) }
}

/// The result of `bench webhooks`.
struct WebhookReport {
    var samples: [WebhookSample]
    /// Nil: no message was sent.
    var campaign: CampaignSample?

    /// The sentences about rates below their limits; none if all are kept.
    func shortfalls(leastRate: Int, leastShare: Double) -> [String] {
        var shortfalls: [String] = []
        for sample in samples where sample.order == WebhookOrder.device.rawValue && sample.rate < Double(leastRate) {
            let rate = String(format: "%.0f", sample.rate)
            shortfalls.append("in the order of devices: \(rate) events per second, less than \(leastRate)")
        }
        if let campaign, campaign.ratio < leastShare {
            shortfalls.append(
                String(format: "a message kept %.2f of its rate, less than %.2f", campaign.ratio, leastShare)
            )
        }
        return shortfalls
    }
}

/// Lets one webhook of each order catch up with the same log, one after the other.
struct WebhookRun {
    let stage: BenchStage
    let events: Int
    let devices: Int

    /// 5,000 events per transaction of the log: short transactions while it is filled.
    private static let step = 5_000

    private var tenant: String { BenchStage.tenant.rawValue }

    /// Three messages alone: the result is their median.
    private static let campaigns = 3

    /// - Parameter hasCampaign: whether a message is sent to all devices too, alone and while another webhook catches up.
    /// - Returns: the measured rates.
    /// - Throws: `StageFailure` when a call is refused or a webhook does not catch up within ten minutes.
    func measure(hasCampaign: Bool) async throws -> WebhookReport {
        try await stage.psql("UPDATE gateway.api_key SET scopes = scopes || '{admin}' WHERE tenant_id = '\(tenant)'")
        let receiver = try await CountingReceiver.start()
        var hooks: [(order: String, path: String)] = []
        for order in WebhookOrder.allCases.map(\.rawValue) {
            hooks.append((order, try await create(order, port: receiver.port)))
        }
        let other = hasCampaign ? try await create(WebhookOrder.device.rawValue, port: receiver.port) : nil
        try await stage.makeAudience(devices)
        Console.error("filling the log with \(events) events")
        try await stage.psql(filling)
        var samples: [WebhookSample] = []
        for hook in hooks { samples.append(try await catchUp(hook.order, hook.path, receiver)) }
        var report = WebhookReport(samples: samples, campaign: nil)
        if let other { report.campaign = try await campaign(other) }
        await receiver.stop()
        return report
    }

    private func campaign(_ path: String) async throws -> CampaignSample {
        let run = BenchRun(stage: stage, devices: devices)
        var alone: [Double] = []
        for number in 1...Self.campaigns { alone.append(try await run.measure(number).perSecond) }
        // Before the message: the webhook must catch up with earlier events, not only with those of the message.
        let end = try await place(of: path).head
        try await resume(path)
        let during = try await run.measure(Self.campaigns + 1).perSecond
        guard try await place(of: path).cursor < end else {
            throw StageFailure("the webhook had caught up before the message was sent to all: use more --events")
        }
        try await wait(for: path, since: .now)
        return CampaignSample(alone: BenchReport.median(alone), during: during)
    }

    /// Creates a paused webhook at the beginning of the log. A gateway knows the changed scopes within a second.
    private func create(_ order: String, port: Int) async throws -> String {
        let body: JSON = [
            "url": .string("http://127.0.0.1:\(port)/"), "order": .string(order), "kinds": ["sent"], "active": false,
        ]
        var text = ""
        for _ in 0..<100 {
            let answer = try await stage.gateway.call("POST", "/v1/webhooks", body, bearer: stage.apiKey)
            if answer.status == 201, let id = answer.json?["id"]?.string { return "/v1/webhooks/\(id)" }
            text = "\(answer.status) \(answer.text)"
            try await Task.sleep(for: .milliseconds(50))
        }
        throw StageFailure("creating a webhook answered \(text)")
    }

    private func catchUp(_ order: String, _ path: String, _ receiver: CountingReceiver) async throws -> WebhookSample {
        let node = stage.nodes[0].processID
        let (calls, gateway, postgres) = (receiver.calls, ProcessUsage.cpuSeconds(node), try stage.postgresCPU())
        let start = ContinuousClock.now
        try await resume(path)
        try await wait(for: path, since: start)
        let seconds = (.now - start) / .seconds(1)
        return WebhookSample(
            order: order,
            events: events,
            calls: receiver.calls - calls,
            seconds: seconds,
            gatewayMicroseconds: (ProcessUsage.cpuSeconds(node) - gateway) * 1e6 / Double(events),
            postgresMicroseconds: (try stage.postgresCPU() - postgres) * 1e6 / Double(events)
        )
    }

    private func resume(_ path: String) async throws {
        let resumed = try await stage.gateway.call("PATCH", path, ["active": true], bearer: stage.apiKey)
        guard resumed.status == 200 else { throw StageFailure("resuming answered \(resumed.status) \(resumed.text)") }
    }

    /// Waits until the webhook is at the end of the log.
    private func wait(for path: String, since start: ContinuousClock.Instant) async throws {
        while true {
            let (cursor, head) = try await place(of: path)
            if cursor >= head { return }
            guard ContinuousClock.now - start < .seconds(600) else {
                throw StageFailure("the webhook did not catch up within ten minutes")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The offset of the last event that the webhook has delivered, and that of the last event of the log.
    private func place(of path: String) async throws -> (cursor: Int64, head: Int64) {
        let shown = try await stage.gateway.call("GET", path, bearer: stage.apiKey).json
        guard let cursor = shown?["cursor"]?.int, let head = shown?["head"]?.int, shown?["failures"]?.int == 0 else {
            throw StageFailure("the webhook failed: \(shown.map { JSONWriter.text($0) } ?? "no answer")")
        }
        return (cursor, head)
    }

    /// One delivery and one event per step of the numbers 1 to `events`; each message goes to all devices.
    private var filling: String {
        """
        CREATE TEMP TABLE d AS SELECT row_number() OVER (ORDER BY identity_id) - 1 AS n, identity_id, device_id
            FROM gateway.identity WHERE tenant_id = '\(tenant)';
        CREATE UNIQUE INDEX ON d (n);
        ANALYZE d;
        DO $$
        DECLARE
            v_day integer := extract(epoch FROM now())::bigint / 86400;
            v_first bigint := 0;
            v_message uuid;
            v_targets uuid[];
        BEGIN
            WHILE v_first < \(events) LOOP
                IF v_first % \(devices) < \(Self.step) THEN v_message := gen_random_uuid(); END IF;
                WITH made AS (
                    INSERT INTO gateway.delivery (tenant_id, due_day, message_id, target_id, app_id, vendor, identity_id, device_id,
                            address, state, transport, sent_at)
                        SELECT '\(tenant)', v_day, v_message, gen_random_uuid(), '\(BenchStage.app)', 'native', d.identity_id, d.device_id,
                            'key:bench', 'sent', 'apns', now()
                        FROM generate_series(v_first, least(v_first + \(Self.step), \(events)) - 1) AS g(n)
                        JOIN d ON d.n = g.n % \(devices)
                        RETURNING target_id)
                SELECT array_agg(target_id) INTO v_targets FROM made;
                PERFORM gateway.append_events('\(tenant)', '\(BenchStage.app)', 'native', NULL, v_message, v_day,
                    array_fill('sent'::text, ARRAY[cardinality(v_targets)]), v_targets);
                v_first := v_first + \(Self.step);
                COMMIT;
            END LOOP;
        END $$;
        ANALYZE gateway.delivery;
        """
    }
}
