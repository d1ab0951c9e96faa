import Model

@testable import ConsoleAdministration
@testable import ConsoleOperations
@testable import PageParts
@testable import WebConsole

/// The pages of operations, each with a request and answers like those that the operations declare.
enum OperationsSamples {
    struct Sample: Sendable, CustomStringConvertible {
        var page: any ConsolePage
        var path: [String: String] = [:]
        var bodies: [String: JSON]

        var description: String { page.path }

        func request(_ language: Language) -> PageRequest { OperationsStage.request(language, path: path) }
    }

    static let apps = OperationsStage.json(
        """
        {"apps":[{"app":"shop","platforms":[{"platform":"ios","topic":"com.example.shop","environments":["production"]}],
          "createdAt":"2026-09-01T00:00:00.000Z","retiredAt":null,"origin":"file"},
          {"app":"web","platforms":[],"createdAt":"2026-10-01T00:00:00.000Z","retiredAt":null,"origin":"api"}],"next":null}
        """
    )
    static let app = apps["apps"]?.array?.first ?? .null
    static let bindings = OperationsStage.json(
        """
        {"bindings":[{"vendor":"upmc","kind":"application","key":"com.…shop","host":"push.example.com",
          "settings":{"senderNetworks":["10.20.0.0/16"],"push.ttlHours":72},"origin":"file"},
          {"vendor":"rationalowl","kind":"account","key":"a1b2…4455","host":null,"settings":{},"origin":"file"},
          {"vendor":"ipns","kind":"app","key":"hr.m…bile","host":null,"settings":{},"origin":"file"},
          {"vendor":"braze","kind":"key","key":"8d7c…504f","host":null,"settings":{"sdkEnabled":false},"origin":"api"},
          {"vendor":"notificationhubs","kind":"hub","key":"shop…hub","host":"push.example.com","settings":{},"origin":"api"}]}
        """
    )
    static let capture = OperationsStage.json(
        """
        {"id":"0198a1f0-7c00-7000-8000-000000000001","app":"shop","vendor":"upmc","state":"running",
          "startedAt":"2026-11-23T05:00:00.000Z","endsAt":"2026-11-23T05:15:00.000Z","endedAt":null,"startedBy":"account:kim",
          "texts":false,"exchanges":2,"exchangeLimit":200,"bytes":4096,"byteLimit":1048576,"bodyLimit":65536}
        """
    )
    static let exchange = OperationsStage.json(
        """
        {"sequence":1,"at":"2026-11-23T05:01:00.123Z","outcome":"known","reason":null,"route":"/upmc","method":"POST",
          "path":"/upmc/rcv_register_message.ctl","query":null,"headers":[{"name":"content-type","value":"application/json"},
          {"name":"authorization","value":null}],"body":"{}","bodyBytes":2,"status":200,"answerType":"application/json",
          "answer":"{\\"HEADER\\":{}}","answerBytes":13}
        """
    )
    static let captureWithPage: JSON = {
        var object = capture.object ?? JSONObject()
        object["page"] = [exchange]
        object["next"] = .null
        return .object(object)
    }()
    static let credential = OperationsStage.json(
        """
        {"credential":"apple","kind":"apns-token","teamId":"ABCDE12345","keyId":"KEY1234567","endpoint":null,"url":null,
          "secrets":[],"uses":[{"topic":"com.example.shop","environment":"production"}],"refusal":null,"refusedAt":null,
          "storedAt":"2026-09-01T00:00:00.000Z","pushesPerSecond":null,"callsPerSecond":null,"usable":true,"findings":[],"expiresAt":null,"daysToExpiry":null,
          "topics":[],"origin":"api"}
        """
    )
    static let key = OperationsStage.json(
        """
        {"id":"0198a1f0-7c00-7000-8000-000000000002","name":"crm","scopes":["send:app/shop"],"networks":["10.20.0.0/16"],
          "recipientsPerDay":100000,"recipientsToday":1200,"createdAt":"2026-09-01T00:00:00.000Z","expiresAt":null,
          "lastUsedAt":"2026-11-23T05:00:00.000Z","hasOtherSecret":false,"otherSecretUntil":null,"isProvisioned":false}
        """
    )
    static let webhook = OperationsStage.json(
        """
        {"id":"0198a1f0-7c00-7000-8000-000000000003","url":"https://example.com/events","app":null,"kinds":["sent"],
          "order":"log","active":true,"state":"active","keyId":"whk_01020304","createdAt":"2026-09-01T00:00:00.000Z",
          "cursor":90,"head":100,"failures":0,"lastError":null}
        """
    )
    static let nodes = OperationsStage.json(
        """
        {"nodes":[{"node":"node-1","startedAt":"2026-11-20T00:00:00.000Z","seenAt":"2026-11-23T05:05:02.000Z"}],"next":null}
        """
    )
    static let queue = OperationsStage.json(
        """
        {"at":"2026-11-23T05:05:07.000Z","lanes":[{"lane":"transactional","paused":false,"due":0,"open":0,"more":false,
          "oldestDueAt":null}],"heldBy":[]}
        """
    )
    static let audit = OperationsStage.json(
        """
        {"entries":[{"position":42,"at":"2026-11-23T05:00:00.000Z","actor":"account:kim","action":"write","subject":"app shop",
          "data":{"changes":[{"setting":"quietHours","before":null,"after":{"from":"22:00"}}]}},
          {"position":41,"at":"2026-11-23T04:00:00.000Z","actor":"provisioning","action":"create","subject":"tenant acme","data":null}],
          "next":41}
        """
    )
    static let posture = OperationsStage.json(
        """
        {"findings":[{"level":"medium","place":"acme key crm","finding":"scopes admin from every network",
          "risk":"Whoever gets the key controls the tenant from anywhere.","remedy":"Give the key networks."},
          {"level":"low","place":"node","finding":"neither audit.file nor audit.syslog is set",
          "risk":"Whoever owns the database can remove the whole audit.",
          "remedy":"Set audit.syslog, or set audit.file and let another system collect the file."}],"more":false}
        """
    )
    static let migration = OperationsStage.json(
        """
        {"id":"leave-upmc","app":"shop","from":"old-upmc","status":"running","step":2,"stage":"rollout 1 %",
          "since":"2026-11-22T05:05:07.000Z","ready":false,"reason":null,"revision":7,"createdAt":"2026-11-01T00:00:00.000Z",
          "steps":5,"remainingSeconds":0,"gates":[
          {"metric":"failures","limit":0.02,"atLeast":false,"verdict":"passed","value":0.004,"samples":1200,"needed":200,"missing":0},
          {"metric":"receipts","limit":0.97,"atLeast":true,"verdict":"missing","value":null,"samples":null,"needed":200,"missing":88}],
          "rollback":{"waitingCalls":12,"oldestSeconds":4,"missesCalls":false},
          "history":[{"revision":7,"at":"2026-11-22T05:05:07.000Z","status":"running","step":2,"note":"rollout 1 % is in force",
          "actor":"account:kim","routeVersion":43}],
          "plan":{"migration":{"id":"leave-upmc","app":"shop","from":"old-upmc"},"steps":[{"stage":"observe","for":"2d",
          "gates":{"observed":">= 0.999"}},{"stage":"serve","for":"1d"},{"stage":"rollout","percent":1,"for":"1d",
          "gates":{"failures":"<= 0.02","receipts":{"limit":">= 0.97","samples":200}}},{"stage":"hold","for":"14d"},{"stage":"complete"}]}}
        """
    )
    static let parity = OperationsStage.json(
        """
        {"app":"shop","since":"2026-11-22T05:00:00.000Z","metrics":[
          {"metric":"responses","samples":1000,"differences":4,"agreement":0.996},
          {"metric":"reach","samples":1000,"differences":0,"agreement":1}],
          "samples":[{"metric":"responses","vendor":"upmc","facts":{"call":"/upmc/x.ctl","fields":["RESULT_CODE"],"status":[200,200],
          "ours":"{\\"a\\":1}","theirs":"{\\"a\\":2}"}}],
          "devices":[{"vendor":"upmc","at":"2026-11-23T01:00:00.000Z","ageSeconds":14707,"usable":true,"difference":0.125,"compared":200,
          "rejected":5,"onlyInExport":1,"onlyHere":15,"tokenDiffers":4,"userDiffers":0,"pushDiffers":0,
          "samples":[{"difference":"token","key":"…504f"}]}],
          "receipts":[{"vendor":"upmc","ratio":0.975,"accepted":400,"received":195,"vendorAccepted":200,"vendorReceived":100}]}
        """
    )
    static let routes = OperationsStage.json(
        """
        {"app":"shop","version":42,"inForce":true,"rules":{"calls":[
          {"kinds":["send"],"rollout":{"percent":10,"by":"user","salt":"spring"},"action":"serve"},
          {"kinds":["send"],"action":"proxy","upstream":"old-braze"}],"deliveries":[{"paths":["apns","old-braze"]}]},
          "overlay":{"calls":[{"kinds":["send"],"rollout":{"percent":10,"by":"user","salt":"spring"},"action":"serve"}]},
          "base":{"calls":[{"kinds":["send"],"action":"proxy","upstream":"old-braze"}],"deliveries":[{"paths":["apns","old-braze"]}]},
          "origin":"api","actor":"account:kim","madeAt":"2026-11-23T05:00:00.000Z"}
        """
    )
    static let versions = OperationsStage.json(
        """
        {"versions":[{"version":42,"origin":"api","actor":"account:kim","madeAt":"2026-11-23T05:00:00.000Z"},
          {"version":41,"origin":"file","actor":"provisioning","madeAt":"2026-11-22T05:00:00.000Z"}],"next":null}
        """
    )

    static let all: [Sample] = [
        Sample(
            page: AppsPage(),
            bodies: ["apps": apps, "credentials": ["credentials": [credential], "next": .null]]
        ),
        Sample(page: AppPage(), path: ["app": "shop"], bodies: ["app": app, "bindings": bindings]),
        Sample(page: CapturesPage(), bodies: ["captures": ["captures": [capture]], "apps": apps]),
        Sample(page: CapturePage(), path: ["capture": "c-1"], bodies: ["capture": captureWithPage]),
        Sample(
            page: CredentialsPage(),
            bodies: ["credentials": ["credentials": [credential], "next": .null]]
        ),
        Sample(page: CredentialPage(), path: ["credential": "apple"], bodies: ["credential": credential]),
        Sample(page: KeysPage(), bodies: ["keys": ["keys": [key], "next": .null], "apps": apps]),
        Sample(page: KeyPage(), path: ["key": "crm"], bodies: ["key": key]),
        Sample(page: WebhooksPage(), bodies: ["webhooks": ["webhooks": [webhook]], "apps": apps]),
        Sample(page: WebhookPage(), path: ["webhook": "w-1"], bodies: ["webhook": webhook]),
        Sample(page: NodesPage(), bodies: ["nodes": nodes, "queue": queue]),
        Sample(page: AuditPage(), bodies: ["audit": audit]),
        Sample(page: PosturePage(), bodies: ["posture": posture]),
        Sample(page: MigrationsPage(), bodies: ["migrations": ["migrations": [migration], "next": .null]]),
        Sample(page: MigrationPage(), path: ["migration": "leave-upmc"], bodies: ["migration": migration]),
        Sample(page: ParityPage(), path: ["app": "shop"], bodies: ["parity": parity]),
        Sample(page: RoutesPage(), bodies: ["apps": apps, "routes-shop": routes, "routes-web": [:]]),
        Sample(page: AppRoutesPage(), path: ["app": "shop"], bodies: ["routes": routes, "versions": versions]),
    ]
}
