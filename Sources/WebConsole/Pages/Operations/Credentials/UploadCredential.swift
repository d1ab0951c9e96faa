import Foundation
import Model
import PageParts

/// Checks and stores a key or a certificate. The form finds some faults without the API, and shows each next to its field; the API names the member of each other fault.
struct UploadCredentialForm: ConsoleForm {
    let name = "upload"
    let permission = Permission.configure
    let asksPassword = true
    /// A file of 48 KiB, the other fields, and the framing of a multipart body.
    let bodyLimitBytes = 256 << 10

    /// The field by which a person stores a credential that cannot send what it is used for now, such as one for a new topic.
    private static let force = "force"

    static let fieldNames: Set<String> = ["credential", "file", "keyId", "teamId", "passphrase", "topics"]

    /// The form that replaces a credential, unless another person has changed it meanwhile; nil: one for a new credential.
    static func view(
        _ path: String,
        replacing credential: JSON?,
        _ request: PageRequest,
        _ words: Wording
    ) -> FormView {
        let id = credential?["credential"]?.string ?? ""
        var fields: [FormView.Field] = [
            .init(
                name: "credential",
                label: words(CredentialsText.name),
                kind: credential == nil ? .text(placeholder: "apple") : .hidden,
                value: id,
                hint: words(CredentialsText.nameHint),
                isRequired: true,
                limit: 64
            ),
            .init(
                name: "file",
                label: words(CredentialsText.fileLabel),
                kind: .file(accept: ".p8,.p12,.pfx,.pem"),
                isRequired: true
            ),
            .init(
                name: "keyId",
                label: words(CredentialsText.keyID),
                kind: .text(placeholder: "KEY1234567"),
                hint: words(CredentialsText.idHint),
                limit: 64
            ),
            .init(
                name: "teamId",
                label: words(CredentialsText.team),
                kind: .text(placeholder: "ABCDE12345"),
                value: credential?["teamId"]?.string ?? "",
                limit: 64
            ),
        ]
        fields += [
            CredentialVersion.hidden(credential),
            .init(
                name: "passphrase",
                label: words(CredentialsText.passphrase),
                kind: .password,
                hint: words(CredentialsText.passphraseHint),
                limit: 1024
            ),
            .init(
                name: "topics",
                label: words(CredentialsText.topics),
                kind: .text(placeholder: "com.example.shop"),
                hint: words(CredentialsText.topicHint),
                limit: 4000
            ),
        ]
        if !request.errors.errors.isEmpty, request.typed["credential"] != nil {
            fields.append(.init(name: force, label: words(CredentialsText.force), kind: .checkbox))
        }
        return FormView(path: path, fields: fields, submit: words(CredentialsText.submit), isMultipart: true)
    }

    /// The preflight, and what is stored now, before anything is replaced.
    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        let upload = Upload(fields, request)
        guard upload.errors.isEmpty else { return [] }
        let path = "credentials/\(APICall.segment(upload.credential))"
        let check = APICall("check", .post, path + "/check", body: .object(upload.members))
        return CredentialVersion.calls(path, fields, answers) + (answers.has("check") ? [] : [check])
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let upload = Upload(fields, request)
        guard upload.errors.isEmpty else { return .invalid(FieldErrors(upload.errors)) }
        if let refusal = CredentialVersion.refusal(fields, answers, request.language) { return .invalid(refusal) }
        if let check = answers["check"] {
            guard check.isSuccess else { return .invalid(Self.errors(FieldErrors(check), request.language)) }
            let faults = Self.faults(check.body, request.language)
            guard faults.isEmpty || fields[Self.force] != nil else { return .invalid(FieldErrors(faults)) }
        }
        let id = APICall.segment(upload.credential)
        return .call(APICall("upload", .put, "credentials/\(id)", body: .object(upload.members)))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(Self.errors(FieldErrors(answer), request.language)) }
        let id = answer.body["credential"]?.string ?? fields["credential"] ?? ""
        return .go(Link(id, Link.path("credentials", id)), CredentialsText.stored)
    }

    /// The fatal findings of a preflight, each at the field that it concerns.
    private static func faults(_ preflight: JSON, _ language: Language) -> [String: String] {
        var faults: [String: String] = [:]
        for finding in preflight["findings"]?.array ?? [] where finding["fatal"]?.bool == true {
            let found = FindingText(finding["text"]?.string ?? "")
            let field =
                switch found.concern {
                case .keyID: "keyId"
                case .team: "teamId"
                case .topic: "topics"
                case .environment, .file: "file"
                }
            faults[field] = [faults[field], found.text(language)].compactMap { $0 }.joined(separator: " ")
        }
        return faults
    }

    /// The API names its member; the form has one field for all kinds of files.
    private static func errors(_ errors: FieldErrors, _ language: Language) -> FieldErrors {
        var shown = FieldErrors([:])
        for (field, problem) in errors.errors {
            let finding = FindingText(problem)
            let isOfFile = ["privateKey", "certificate", "pkcs12", "kind"].contains(field)
            let place = isOfFile ? "file" : fieldNames.contains(field) ? field : ""
            let text = finding.text(language)
            shown.errors[place] = place.isEmpty && !field.isEmpty ? "\(field): \(text)" : text
            // The text of a finding is in both languages; another one is a detail of the API.
            if !finding.isKnown { shown.problems[place] = errors.problems[field] }
        }
        return shown
    }

    /// The fields of the form as members of a call.
    private struct Upload {
        var credential: String
        var members = JSONObject()
        var errors: [String: String] = [:]

        init(_ fields: FormFields, _ request: PageRequest) {
            func text(_ name: String) -> String {
                (fields[name] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            }
            let language = request.language
            credential = text("credential")
            if credential.isEmpty { errors["credential"] = OperationsText.missing(language) }
            guard let (name, bytes) = Self.file(fields) else {
                errors["file"] = CredentialsText.noFile(language)
                return
            }
            switch CredentialFile(bytes) {
            case .wrong(let why): errors["file"] = why(language)
            case .signingKey(let pem): token(pem, text("keyId"), text("teamId"), fileName: name, language)
            case .pem(let pem):
                members = ["kind": "apns-certificate", "certificate": .string(pem)]
                secret(fields["passphrase"])
            case .pkcs12(let bytes):
                let text = Data(bytes).base64EncodedString()
                members = ["kind": "apns-certificate", "pkcs12": .string(text)]
                secret(fields["passphrase"])
            }
            let topics = text("topics").split(whereSeparator: { $0 == "," || $0.isWhitespace })
            if members["kind"] == "apns-token", !topics.isEmpty {
                members["topics"] = .array(topics.prefix(1000).map { .string(String($0)) })
            }
        }

        private static func file(_ fields: FormFields) -> (name: String, bytes: [UInt8])? {
            for field in fields.fields where field.name == "file" {
                // A form without a chosen file sends an empty one without a name.
                if case .file(let name, let bytes) = field.value, !(name.isEmpty && bytes.isEmpty) {
                    return (name, bytes)
                }
            }
            return nil
        }

        private mutating func secret(_ passphrase: String?) {
            if let passphrase, !passphrase.isEmpty { members["passphrase"] = .string(passphrase) }
        }

        private mutating func token(
            _ pem: String,
            _ keyID: String,
            _ team: String,
            fileName: String,
            _ language: Language
        ) {
            let named = CredentialFile.keyID(inName: fileName)
            let key = keyID.isEmpty ? named ?? "" : keyID
            if key.isEmpty {
                errors["keyId"] = CredentialsText.noKeyID(language)
            } else if let named, named != key {
                errors["keyId"] = CredentialsText.otherKeyID(named)(language)
            } else if !CredentialFile.isAppleID(key) {
                errors["keyId"] = CredentialsText.oddID(language)
            }
            if team.isEmpty {
                errors["teamId"] = CredentialsText.noTeam(language)
            } else if team == key {
                errors["teamId"] = CredentialsText.sameIDs(language)
            } else if !CredentialFile.isAppleID(team) {
                errors["teamId"] = CredentialsText.oddID(language)
            }
            members = [
                "kind": "apns-token", "teamId": .string(team), "keyId": .string(key), "privateKey": .string(pem),
            ]
        }
    }
}
