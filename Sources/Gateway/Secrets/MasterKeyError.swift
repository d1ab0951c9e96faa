/// The reason why the master key cannot be used. The paths and commands come from the operator's own settings. No text contains a part of a key.
package enum MasterKeyError: Error, CustomStringConvertible {
    case missing(String)
    case unreadable(String)
    case unwritable(String, String)
    case openToOthers(String)
    case wrongLength(Int)
    case tooMany(Int)
    case twice(String)
    case sealing
    case notOurs
    case mismatch(stored: String, ours: [String])
    case withoutCurrent(String)
    case command(CommandFault)

    /// The reason why `master.key.command` gave no key.
    package enum CommandFault: Error, Hashable {
        case notStarted
        case status(Int32)
        case tooSlow
        case tooLong
        case unreadable
    }

    package var description: String {
        switch self {
        case .missing(let path):
            "no master key file at \(path): copy it from another node or from where the backup's key is kept, or, for the first node of a new database, create it: "
                + "mkdir -p $(dirname '\(path)') && (umask 077 && echo \"v2:$(openssl rand -hex 32)\" >'\(path)')"
        case .unreadable(let path):
            "the master key file \(path) must contain one key per line: 'v2:' and 64 hex digits, or 64 hex digits"
        case .unwritable(let path, let reason): "cannot write the master key file \(path): \(reason)"
        case .openToOthers(let path):
            "other users can read or change the master key file \(path): chmod 600 '\(path)'; if it was readable for long, replace the secrets that it seals"
        case .wrongLength(let count): "a master key has 32 bytes, this one has \(count)"
        case .tooMany(let count):
            "there are \(count) master keys, at most \(KeyRing.limit) are used: remove old ones (push-gateway master-key remove)"
        case .twice(let id): "master key \(id) is listed twice"
        case .sealing: "sealing failed"
        case .notOurs: "a sealed secret cannot be opened with this master key"
        case .mismatch(let stored, let ours):
            "the database's secrets are sealed with master key \(stored), this node has \(ours.joined(separator: ", ")); "
                + "start it with the right --master-key-file or --master-key-command"
        case .withoutCurrent(let id):
            "the master key \(id), which seals the secrets, is no longer listed: put it back; until then it stays in use in memory"
        case .command(let fault): "master.key.command \(fault.words); run it by hand as the user of the gateway"
        }
    }
}

extension MasterKeyError.CommandFault {
    fileprivate var words: String {
        switch self {
        case .notStarted: "could not be started with /bin/sh"
        case .status(let status): "ended with status \(status) (its output is not shown)"
        case .tooSlow: "did not end within \(MasterKeySource.timeLimit.components.seconds) s"
        case .tooLong: "wrote more than \(MasterKeySource.sizeLimit / 1024) KiB"
        case .unreadable: "must write one key per line: 'v2:' and 64 hex digits, or 64 hex digits"
        }
    }
}
