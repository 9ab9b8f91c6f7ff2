// Copyright 2026 The Holt Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.util.Collection;
import org.apache.jackrabbit.oak.plugins.blob.datastore.DataStoreBlobStore;
import org.apache.jackrabbit.oak.plugins.blob.datastore.OakFileDataStore;
import org.apache.jackrabbit.oak.segment.compaction.SegmentGCOptions;
import org.apache.jackrabbit.oak.segment.file.FileStoreBuilder;

/** How a store is opened. */
final class Options {
    private String blobs;        // directory of binaries kept outside; null if there are none
    private int record = 4096;   // longest binary, in bytes, that is kept in its own id
    private int inline = 16512;  // shortest binary, in bytes, that is not kept in a data segment
    private int archive = 256;   // MiB at which an archive is closed

    static Options parse(Collection<String> words) {
        Options o = new Options();
        for (String word : words) {
            String[] pair = word.split("=", 2);
            switch (pair[0]) {
                case "blobs" -> o.blobs = pair[1];
                case "record" -> o.record = Integer.parseInt(pair[1]);
                case "inline" -> o.inline = Integer.parseInt(pair[1]);
                case "archive" -> o.archive = Integer.parseInt(pair[1]);
                default -> throw new IllegalArgumentException("no such option: " + word);
            }
        }
        return o;
    }

    FileStoreBuilder builder(File dir) {
        FileStoreBuilder b = FileStoreBuilder.fileStoreBuilder(dir)
            .withMaxFileSize(archive)
            .withMemoryMapping(false)
            .withSegmentCacheSize(32)
            .withStringCacheSize(16)
            .withTemplateCacheSize(4)
            .withStringDeduplicationCacheSize(5000)
            .withTemplateDeduplicationCacheSize(1000)
            .withNodeDeduplicationCacheSize(1 << 16)
            .withBinariesInlineThreshold(inline)
            .withGCOptions(SegmentGCOptions.defaultGCOptions().setEstimationDisabled(true).setMemoryThreshold(0));
        return blobs == null ? b : b.withBlobStore(blobStore());
    }

    DataStoreBlobStore blobStore() {
        OakFileDataStore data = new OakFileDataStore();
        data.setPath(blobs);
        data.setMinRecordLength(record);
        data.init(null);
        return new DataStoreBlobStore(data);
    }
}
