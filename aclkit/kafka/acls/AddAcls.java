import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.resource.*;

/** Adds the ACLs of its input, a line each, to a cluster and makes sure that they are there. */
public class AddAcls {
    private static final int MOST_LETTERS = 200_000;  // Of lines in one request.
    private static final int MOST_ACLS = 500;
    private static final int SECONDS = 60;  // Until brokers show what a controller took.

    public static void main(String[] arguments) throws Exception {
        Properties client = new Properties();
        if (arguments.length > 1) {
            try (InputStream file = new FileInputStream(arguments[1])) {
                client.load(file);
            }
        }
        client.put("bootstrap.servers", arguments[0]);
        Map<AclBinding, String> wanted = read();
        int number = wanted.size();
        try (Admin admin = Admin.create(client)) {
            int refused = add(admin, wanted);
            Set<AclBinding> missing = await(admin, wanted.keySet());
            for (AclBinding acl : missing) {
                System.err.println("missing: " + wanted.get(acl));
            }
            System.out.println(wanted.size() - missing.size() + " of " + number + " ACLs are there");
            System.exit(refused + missing.size() == 0 ? 0 : 1);
        }
    }

    /** Reads resource type, name and pattern type, principal, host, operation and permission. */
    private static Map<AclBinding, String> read() throws Exception {
        Map<AclBinding, String> acls = new LinkedHashMap<>();
        BufferedReader lines = new BufferedReader(
            new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split(" ", -1);
            if (fields.length != 7) {
                throw new IllegalArgumentException("expected seven fields, found: " + line);
            }
            for (int i = 0; i < fields.length; i++) {
                fields[i] = URLDecoder.decode(fields[i], StandardCharsets.UTF_8);
            }
            acls.put(new AclBinding(
                new ResourcePattern(ResourceType.valueOf(fields[0]), fields[1],
                    PatternType.valueOf(fields[2])),
                new AccessControlEntry(fields[3], fields[4], AclOperation.valueOf(fields[5]),
                    AclPermissionType.valueOf(fields[6]))), line);
        }
        return acls;
    }

    /** Asks for all of them, some at a time; takes those away that the cluster refuses. */
    private static int add(Admin admin, Map<AclBinding, String> wanted) throws Exception {
        int refused = 0;
        int letters = 0;
        List<AclBinding> batch = new ArrayList<>();
        for (AclBinding acl : List.copyOf(wanted.keySet())) {
            letters += wanted.get(acl).length();
            if (batch.size() == MOST_ACLS || (letters > MOST_LETTERS && !batch.isEmpty())) {
                refused += send(admin, batch, wanted);
                batch.clear();
                letters = wanted.get(acl).length();
            }
            batch.add(acl);
        }
        return refused + send(admin, batch, wanted);
    }

    private static int send(Admin admin, List<AclBinding> batch, Map<AclBinding, String> wanted)
            throws Exception {
        int refused = 0;
        for (Map.Entry<AclBinding, KafkaFuture<Void>> asked
                : admin.createAcls(batch).values().entrySet()) {
            try {
                asked.getValue().get();
            } catch (ExecutionException error) {
                if (!(error.getCause() instanceof InvalidRequestException)) {
                    throw error;
                }
                String line = wanted.remove(asked.getKey());
                System.err.println("refused: " + line + ": " + error.getCause().getMessage());
                refused++;
            }
        }
        return refused;
    }

    private static Set<AclBinding> await(Admin admin, Set<AclBinding> wanted) throws Exception {
        Set<AclBinding> missing = new LinkedHashSet<>(wanted);
        for (int second = 0; ; second++) {
            missing.removeAll(Set.copyOf(admin.describeAcls(AclBindingFilter.ANY).values().get()));
            if (missing.isEmpty() || second == SECONDS) {
                return missing;
            }
            Thread.sleep(1000);
        }
    }
}
